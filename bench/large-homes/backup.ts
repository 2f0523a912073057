/** A backup of 1 GB during 50 writes a second: duration of the writes, relative to those without a backup, and lost writes. */
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '../../daemon/store/database.ts'
import { migrate } from '../../daemon/store/migrate.ts'
import { restoreHome } from '../../src/cli/backup/restore-home.ts'
import { homePaths } from '../../src/config.ts'
import type { DaemonProcess } from '../../test/harness/daemon.ts'
import { request, TOKEN, withDaemon, withHome } from '../support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from '../support/figures.ts'

const DATABASE_BYTES = 200e6
const MESSAGE_BYTES = 10_000
const DOCUMENT_BYTES = 10e6
/** Half of them cannot be compressed, such as PDF files. */
const DOCUMENTS = 80
const WRITES_PER_SECOND = 50
/** Before and after the backup. */
const BASELINE_SECONDS = 15

interface Write {
  name: string
  sentAt: number
  acknowledgedAt: number
}

export const backup: Benchmark = {
  name: 'backup',
  run: () =>
    withHome(async (home) => {
      await fillDatabase(home)
      const file = join(dirname(home), 'backup.tar.gz')
      const { writes, startedAt, endedAt } = await withDaemon(home, async (daemon) => {
        // The daemon removes documents without a record when it starts.
        writeDocuments(home)
        const writer = startWriter(daemon)
        await pause(BASELINE_SECONDS * 1000)
        const startedAt = performance.now()
        await createBackup(daemon, file)
        const endedAt = performance.now()
        await pause(BASELINE_SECONDS * 1000)
        return { writes: await writer.stop(), startedAt, endedAt }
      })
      const restored = join(dirname(home), 'restored')
      rmSync(join(home, 'documents'), { recursive: true }) // makes room
      await restoreHome(file, homePaths({ CADRE_HOME: restored }), () => {})
      const inBackup = writes.filter(({ acknowledgedAt }) => acknowledgedAt < startedAt)
      const lost = (await countMissing(home, writes)) + (await countMissing(restored, inBackup))
      const during = writes.filter(({ sentAt }) => sentAt >= startedAt && sentAt < endedAt)
      const without = writes.filter((write) => !during.includes(write))
      const size = `${(statSync(file).size / 1e6).toFixed(0)} MB in ${((endedAt - startedAt) / 1000).toFixed(0)} s`
      return [
        compareDurations(`median write during a backup of 1 GB (${size})`, during, without, 0.5),
        compareDurations('19 of 20 writes during a backup of 1 GB', during, without, 0.95),
        {
          name: `lost of ${inBackup.length} writes before and ${writes.length - inBackup.length} during and after the backup`,
          figure: `${lost}`,
          ratio: lost,
          bar: { most: 0 },
        },
      ]
    }),
}

async function fillDatabase(home: string): Promise<void> {
  mkdirSync(home, { mode: 0o700 })
  const database = openDatabase(homePaths({ CADRE_HOME: home }).database)
  await migrate(database)
  const now = new Date().toISOString()
  await database.write(async (transaction) => {
    await transaction.run(
      `INSERT INTO conversations (id, agent_id, user_id, status, created_at, updated_at) VALUES ('conv_1', 'agent_1', 'u', 'active', ?, ?)`,
      [now, now],
    )
    await transaction.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${DATABASE_BYTES / MESSAGE_BYTES})
        INSERT INTO messages (id, conversation_id, role, content, details, created_at)
        SELECT 'msg_' || n, 'conv_1', 'user', hex(randomblob(${MESSAGE_BYTES / 2})), '{}', ? FROM numbers`,
      [now],
    )
  })
  await database.close()
}

function writeDocuments(home: string): void {
  for (let number = 0; number < DOCUMENTS; number++) {
    const bytes = randomBytes(DOCUMENT_BYTES / (1 + (number % 2)))
    const content = number % 2 === 0 ? bytes : bytes.toString('hex')
    const hash = createHash('sha256').update(content).digest('hex')
    const path = join(home, 'documents', hash.slice(0, 2), hash)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { flush: true })
  }
}

/** Sends writes at a fixed rate, whether or not earlier ones are acknowledged. */
function startWriter(daemon: DaemonProcess): { stop(): Promise<Write[]> } {
  const pending: Promise<Write>[] = []
  const startedAt = performance.now()
  const timer = setInterval(() => {
    while (pending.length < ((performance.now() - startedAt) / 1000) * WRITES_PER_SECOND) {
      const sent = write(daemon, `Agent ${pending.length}`)
      sent.catch(() => {}) // reported by `stop`
      pending.push(sent)
    }
  }, 1000 / WRITES_PER_SECOND)
  return {
    stop() {
      clearInterval(timer)
      return Promise.all(pending)
    },
  }
}

async function write(daemon: DaemonProcess, name: string): Promise<Write> {
  const sentAt = performance.now()
  await request(daemon, 'POST', '/api/agents', { name }).catch((error: unknown) => {
    throw new Error(`A write failed. Other load may leave too little for ${WRITES_PER_SECOND} writes a second.`, { cause: error })
  })
  return { name, sentAt, acknowledgedAt: performance.now() }
}

async function createBackup(daemon: DaemonProcess, path: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const response = await fetch(`${daemon.url}/api/backups`, { method: 'POST', headers, body: JSON.stringify({ path }) })
  const events = await response.text()
  if (!events.includes('event: backup_end')) throw new Error(`The backup failed: ${events.slice(-500)}`)
}

/** Returns how many of the writes a home does not contain. */
async function countMissing(home: string, writes: readonly Write[]): Promise<number> {
  const database = openDatabase(homePaths({ CADRE_HOME: home }).database)
  const damage = database.validateIntegrity()
  if (damage) throw damage
  const names = new Set((await database.all<{ name: string }>('SELECT name FROM agents')).map(({ name }) => name))
  await database.close()
  return writes.filter(({ name }) => !names.has(name)).length
}

function compareDurations(name: string, during: readonly Write[], without: readonly Write[], quantile: number): Figure {
  const measure = (writes: readonly Write[]) => {
    const sorted = writes.map(({ sentAt, acknowledgedAt }) => acknowledgedAt - sentAt).sort((a, b) => a - b)
    return quantile === 0.5 ? median(sorted) : (sorted[Math.floor(sorted.length * quantile)] ?? Number.NaN)
  }
  const [busy, idle] = [measure(during), measure(without)]
  return {
    name: `${name}, relative to those without`,
    figure: `${formatMilliseconds(busy)} to ${formatMilliseconds(idle)}`,
    ratio: busy / idle,
    // The slowest writes wait for the disk that the backup writes to.
    ...(quantile === 0.5 && { bar: { most: 1.25 } }),
  }
}
