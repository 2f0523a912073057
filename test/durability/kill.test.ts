import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DaemonProcess, spawnDaemon, startDaemon, TOKEN } from '../harness/daemon.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'

const ROUNDS = 4
const WRITES_PER_ROUND = 1_000
const CONCURRENCY = 8
/** Every 25th write is a document. */
const DOCUMENT_INTERVAL = 25

const test = suite('kill -9')
let root: string
let home: string
let daemon: DaemonProcess | undefined

test.before(
  reportFailure(() => {
    root = mkdtempSync(join(tmpdir(), 'cadre-kill-'))
    home = join(root, 'home')
  }),
)
test.after(
  reportFailure(async () => {
    await daemon?.kill()
    rmSync(root, { recursive: true, force: true })
  }),
)

type Call = (method: 'GET' | 'POST', path: string, body?: unknown, key?: string) => Promise<{ status: number; body: Json }>

function createClient(url: string): { call: Call; end(): Promise<void> } {
  const pool = new Pool(url, { connections: CONCURRENCY, pipelining: 1 })
  return {
    end: () => pool.destroy(),
    async call(method, path, body, key) {
      const headers = {
        authorization: `Bearer ${TOKEN}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(key ? { 'idempotency-key': key } : {}),
      }
      const reply = await pool.request({ method, path: `/api${path}`, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
      return { status: reply.statusCode, body: (await reply.body.json()) as Json }
    },
  }
}

interface Write {
  key: string
  path: string
  body: { name: string; [field: string]: unknown }
  /** The identifier from the response, once acknowledged. */
  id?: string
}

function createWrites(round: number, sourceId: string): Write[] {
  return Array.from({ length: WRITES_PER_ROUND }, (_, index) => {
    const name = `round ${round} write ${index}`
    const document = {
      path: `/knowledge-sources/${sourceId}/documents`,
      body: { name: `${name}.md`, content: `${name} `.repeat(200), index: false },
    }
    const agent = { path: '/agents', body: { name, description: `round ${round}`, system_prompt: 'x'.repeat(500) } }
    return { key: `${round}-${index}`, ...(index % DOCUMENT_INTERVAL === 0 ? document : agent) }
  })
}

/** Sends writes concurrently until all are done or the daemon is gone. */
async function sendWrites(call: Call, writes: Write[], onAcknowledged: (count: number) => void): Promise<void> {
  let next = 0
  let count = 0
  const worker = async () => {
    for (let write = writes[next++]; write !== undefined; write = writes[next++]) {
      const { status, body } = await call('POST', write.path, write.body, write.key)
      assert.is(status, 201, JSON.stringify(body))
      write.id = body.data.id
      onAcknowledged(++count)
    }
  }
  await Promise.allSettled(Array.from({ length: CONCURRENCY }, worker))
}

/** Reads all pages of a list, grouped by name. */
async function listByName(call: Call, path: string): Promise<Map<string, Json[]>> {
  const found = new Map<string, Json[]>()
  for (let page = 1; ; page++) {
    const { body } = await call('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100&sort=id&order=asc&page=${page}`)
    for (const item of body.data) found.set(item.name, [...(found.get(item.name) ?? []), item])
    if (page >= body.pagination.pages) return found
  }
}

function readOriginal({ content_hash }: Json): Buffer {
  return readFileSync(join(home, 'documents', content_hash.slice(0, 2), content_hash))
}

test(`no acknowledged write is lost or duplicated in ${ROUNDS} kills`, async () => {
  daemon = await startDaemon(home, { token: TOKEN })
  const first = createClient(daemon.url)
  const { body } = await first.call('POST', '/knowledge-sources', { name: 'all', type: 'file' })
  await first.end()
  const sourceId = body.data.id
  let [sent, cut] = [0, 0]

  for (let round = 1; round <= ROUNDS; round++) {
    const writes = createWrites(round, sourceId)
    const killAt = randomInt(20, WRITES_PER_ROUND * 0.3)
    const before = createClient(daemon.url)
    const victim: DaemonProcess = daemon
    let killed: Promise<void> | undefined
    await sendWrites(before.call, writes, (count) => {
      if (count === killAt) killed = victim.kill()
    })
    assert.ok(killed, 'the daemon was not killed')
    await killed
    await before.end()

    daemon = await startDaemon(home, { token: TOKEN })
    const after = createClient(daemon.url)
    const agents = await listByName(after.call, `/agents?description=round+${round}`)
    const documents = await listByName(after.call, `/knowledge-sources/${sourceId}/documents`)
    const found = (write: Write) => (write.path === '/agents' ? agents : documents).get(write.body.name) ?? []
    const done = writes.filter(({ id }) => id !== undefined)
    assert.ok(done.length >= killAt)
    for (const write of done)
      assert.equal(
        found(write).map(({ id }) => id),
        [write.id],
        `round ${round}: ${write.body.name}`,
      )
    // An unacknowledged write was stored completely or not at all; repeating it stores it once.
    const unacknowledged = writes.filter((write) => write.id === undefined && found(write).length > 0)
    assert.ok(unacknowledged.length <= CONCURRENCY, `${unacknowledged.length} unacknowledged writes`)
    for (const write of unacknowledged) {
      const again = await after.call('POST', write.path, write.body, write.key)
      assert.equal([again.status, again.body.data.id], [201, found(write)[0].id])
    }
    for (const write of done) {
      if (write.path === '/agents') continue
      assert.ok(readOriginal(found(write)[0]).equals(Buffer.from(String(write.body.content))), `${write.body.name}: different bytes`)
    }
    const repeated = done[randomInt(done.length)] as Write
    assert.is((await after.call('POST', repeated.path, repeated.body, repeated.key)).body.data.id, repeated.id)
    await after.end()
    sent += done.length
    cut += unacknowledged.length
  }

  const last = createClient((daemon as DaemonProcess).url)
  const agents = await listByName(last.call, '/agents')
  assert.equal(
    [...agents.values()].filter((same) => same.length > 1),
    [],
  )
  const { body: status } = await last.call('GET', '/status')
  assert.is(status.data.counts.agents, agents.size)
  assert.is((await last.call('GET', '/health')).body.status, 'healthy')
  await last.end()
  assert.is(await (daemon as DaemonProcess).stop(), 0)
  daemon = undefined
  console.log(`${sent} acknowledged and ${cut} unacknowledged writes`)
})

test('a first start killed at any moment leaves a usable home with one admin token', async () => {
  const whole = (await startAndStop(join(root, 'whole'))).readyMs
  for (const part of [0.4, 0.7, 0.9]) {
    const fresh = join(root, `fresh-${part}`)
    const child = spawnDaemon(fresh, { token: TOKEN })
    await new Promise((resolve) => setTimeout(resolve, whole * part))
    child.kill('SIGKILL')
    await once(child, 'exit')
    assert.is((await startAndStop(fresh)).tokens, 1, `killed after ${part} of a start`)
  }
})

async function startAndStop(place: string): Promise<{ readyMs: number; tokens: number }> {
  const running = await startDaemon(place, { token: TOKEN })
  const { call, end } = createClient(running.url)
  const { body } = await call('GET', '/tokens')
  await end()
  assert.is(await running.stop(), 0)
  return { readyMs: running.readyMs, tokens: body.pagination.total }
}

test.run()
