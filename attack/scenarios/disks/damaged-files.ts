/** Every file of a home damaged in turn: recovery or a clear error, never wrong data or a crash. */
import { randomBytes } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { linkCommand, runCommand } from '../../../test/harness/cli.ts'
import type { Json } from '../../../test/harness/test-server.ts'
import type { Client } from '../../support/client.ts'
import { openDaemon, withFolder } from '../../support/daemon.ts'
import { fillHome, findDifferences, readSnapshot, type Snapshot, waitForSyncs } from '../../support/fill-home.ts'
import type { Scenario } from '../../support/scenario.ts'

/** Homes that are attacked at the same time. */
const HOMES = 2
/** A bug, a stack trace, or an end by a signal. */
const IS_UNCLEAR = /is a bug|at .*\.js:\d+|exited \(SIG/
/** An index that is rebuilt has a later sync. */
const CHANGED_BY_RECOVERY = ['statistics', 'progress', 'last_sync', 'updated_at', 'last_used_at']
/** Files that the commands read before they call the daemon. */
const READ_BY_COMMANDS = ['token', 'config.json', 'daemon.json', 'vault.json', 'cadre.lock', 'cadre.db']

const DAMAGES: Record<string, (path: string) => void> = {
  removed: (path) => rmSync(path),
  emptied: (path) => truncateSync(path),
  'cut in half': (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  'half overwritten': (path) => {
    const content = readFileSync(path)
    randomBytes(Math.ceil(content.length / 2)).copy(content, Math.floor(content.length / 4))
    writeFileSync(path, content)
  },
}

/** A search index has dozens of files, which are damaged in two ways each. */
const listDamages = (file: string): string[] => (file.startsWith('vectors') ? ['emptied', 'half overwritten'] : Object.keys(DAMAGES))

interface Damage {
  file: string
  kind: string
}

type Effect = 'recovered' | 'explained' | 'refused'

export const damagedFiles: Scenario = {
  name: 'damaged-files',
  promise: 'A damaged file leads to recovery or a clear error, never to wrong data or a crash.',
  run: ({ scale, seed }) =>
    withFolder(async (folder) => {
      const home = join(folder, 'home')
      const snapshot = await createHome(home)
      const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((file) => statSync(join(home, file)).isFile())
      const all = files.flatMap((file) => listDamages(file).map((kind): Damage => ({ file, kind })))
      const step = Math.max(1, Math.round(1 / scale))
      const queue = all.filter((_, index) => (index + seed) % step === 0)
      const amount = `${queue.length} damages of ${files.length} files`
      const effects: Record<Effect, number> = { recovered: 0, explained: 0, refused: 0 }
      const violations: string[] = []
      const attack = async (lane: number) => {
        for (let damage = queue.pop(); damage !== undefined; damage = queue.pop()) {
          const copy = join(folder, `copy-${lane}`)
          cpSync(home, copy, { recursive: true })
          const { effect, problems } = await attackFile(copy, damage, snapshot)
          effects[effect]++
          violations.push(...problems.map((problem) => `${damage.file} ${damage.kind}: ${problem}`))
          rmSync(copy, { recursive: true, force: true })
        }
      }
      await Promise.all(Array.from({ length: HOMES }, (_, lane) => attack(lane)))
      const { recovered, explained, refused } = effects
      const figure = `${recovered} recovered, ${explained} with errors for some requests, ${refused} with an error at the start`
      return { amount, figure, violations }
    }),
}

async function createHome(home: string): Promise<Snapshot> {
  const daemon = await openDaemon(home)
  await fillHome(daemon.client)
  const snapshot = await readSnapshot(daemon.client)
  await daemon.stop()
  writeFileSync(join(home, 'config.json'), '{"output":"table"}')
  return snapshot
}

/** Damages a file and starts. If this had an effect, a second start must not be worse. */
async function attackFile(home: string, { file, kind }: Damage, snapshot: Snapshot): Promise<{ effect: Effect; problems: string[] }> {
  DAMAGES[kind]?.(join(home, file))
  const problems: string[] = []
  if (READ_BY_COMMANDS.includes(file)) problems.push(...(await runStatus(home)))
  let effect: Effect = 'recovered'
  for (const start of ['first', 'second']) {
    const daemon = await openDaemon(home).catch((error: Error) => error)
    if (daemon instanceof Error) {
      effect = 'refused'
      if (!daemon.message.includes(basename(file)) || IS_UNCLEAR.test(daemon.message))
        problems.push(`the ${start} start says ${daemon.message.slice(0, 300)}`)
      continue
    }
    try {
      await waitForSyncs(daemon.client).catch((error: Error) => problems.push(error.message))
      const { errors, differences } = await compareWithSnapshot(daemon.client, snapshot)
      if (errors > 0) effect = 'explained'
      problems.push(...differences.map((difference) => `after the ${start} start ${difference}`))
      const code = await daemon.stop()
      if (code !== 0) problems.push(`the daemon exited with ${code} after the ${start} start`)
    } finally {
      await daemon.kill()
    }
    if (effect === 'recovered' && problems.length === 0) break
  }
  return { effect, problems }
}

/** Compares every response with the snapshot. Errors are allowed if they have a reason. */
async function compareWithSnapshot(client: Client, snapshot: Snapshot): Promise<{ errors: number; differences: string[] }> {
  const differences: string[] = []
  let errors = 0
  const check = (path: string, status: number, body: Json, compare: () => void) => {
    if (status === 200) return compare()
    errors++
    if (status < 500 || body?.code === 'INTERNAL') differences.push(`${path} returned ${status}: ${JSON.stringify(body)?.slice(0, 200)}`)
  }
  for (const [path, expected] of Object.entries(snapshot.resources)) {
    const { status, body, data } = await client.get(path)
    check(path, status, body, () => findDifferences(path, expected, data, CHANGED_BY_RECOVERY, differences))
  }
  const [tool] = Object.keys(snapshot.resources).filter((path) => path.startsWith('/retrieval-tools/'))
  for (const [query, expected] of Object.entries(snapshot.searches)) {
    const { status, body, data } = await client.post(`${tool}/search`, { query, top_k: 1 })
    const found = data?.results?.map(({ metadata }: Json) => metadata.source)
    check(`${tool}/search`, status, body, () => findDifferences(`"${query}"`, expected, found, [], differences))
  }
  return { errors, differences }
}

/** Runs a command, which must not fail with a stack trace. */
async function runStatus(home: string): Promise<string[]> {
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    CADRE_HOME: home,
    CADRE_PORT: '0',
    CADRE_KEYCHAIN: 'off',
    CADRE_MODEL_SERVERS: 'none',
  }
  const command = linkCommand(join(home, 'bin'))
  const { stdout, stderr } = await runCommand(command, ['status'], { environment })
  await runCommand(command, ['daemon', 'stop'], { environment })
  rmSync(join(home, 'bin'), { recursive: true })
  return IS_UNCLEAR.test(stderr + stdout) ? [`cadre status says ${stderr.slice(0, 300)}`] : []
}
