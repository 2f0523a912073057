/** A token is sent only to the daemon that wrote daemon.json, not to a program that took its port and its process id. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isProcessAlive } from '../../src/client/address.ts'
import { connect } from '../../src/client/connect.ts'
import { UnreachableError } from '../../src/client/errors.ts'
import { type Connection, sendOnce } from '../../src/client/request.ts'
import { stopDaemon } from '../../src/client/stop-daemon.ts'
import { homePaths, type Paths } from '../../src/config.ts'
import { computeProof } from '../../src/daemon-proof.ts'
import { version } from '../../src/version.ts'
import { withTimeoutFactor } from '../harness/clocks/timeout-factor.ts'
import { waitFor } from '../harness/wait-for.ts'

const SECRET = 'a'.repeat(64)
const ADMIN_TOKEN = 'cadre_admin'

interface Context {
  paths: Paths
  servers: Server[]
  /** The Authorization headers that any server received. */
  received: (string | undefined)[]
  listen(listener: RequestListener, port?: number): Promise<{ server: Server; url: string; port: number }>
  writeRecord(record: object): void
}

const test = suite<Context>('proof of the daemon')

test.before.each((context) => {
  context.paths = homePaths({ CADRE_HOME: mkdtempSync(join(tmpdir(), 'cadre-proof-')) })
  mkdirSync(context.paths.home, { recursive: true })
  writeFileSync(context.paths.token, ADMIN_TOKEN)
  writeFileSync(context.paths.vault, JSON.stringify({ location: 'file' }))
  context.servers = []
  context.received = []
  context.listen = async (listener, port = 0) => {
    const server = createServer((request, response) => {
      context.received.push(request.headers.authorization)
      listener(request, response)
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    context.servers.push(server)
    const { port: bound } = server.address() as AddressInfo
    return { server, port: bound, url: `http://127.0.0.1:${bound}` }
  }
  context.writeRecord = (record) =>
    writeFileSync(context.paths.daemon, JSON.stringify({ pid: process.pid, version, started_at: '', ...record }))
})
test.after.each(async ({ paths, servers }) => {
  for (const server of servers) await stop(server)
  rmSync(paths.home, { recursive: true, force: true })
})

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** A request on a connection that the server has just closed would fail without a new connection. */
const waitForClosedSockets = ({ agent }: Connection) =>
  waitFor(() => Object.keys(agent?.freeSockets ?? {}).length === 0, { description: 'the end of idle connections' })

const HEALTH = JSON.stringify({ status: 'healthy', version, database: 'connected', vector_db: 'connected' })

/** Answers as a daemon that knows a secret. */
const respondAsDaemon =
  (secret: string): RequestListener =>
  ({ url = '' }, response) => {
    const { searchParams, pathname } = new URL(url, 'http://localhost')
    const proof = computeProof(secret, searchParams.get('challenge') ?? '')
    response.setHeader('content-type', 'application/json')
    response.end(pathname === '/api/health/live' ? JSON.stringify({ status: 'live', proof }) : HEALTH)
  }

/** Each looks like a daemon, but does not know the secret. */
const IMPOSTORS: Record<string, RequestListener> = {
  'no proof': (_, response) => response.end(HEALTH),
  'the challenge as proof': ({ url = '' }, response) => response.end(JSON.stringify({ status: 'live', proof: url.slice(-64) })),
  'the proof of another daemon': respondAsDaemon('b'.repeat(64)),
  'a proof without a secret': respondAsDaemon(''),
  'a proof with undefined': respondAsDaemon('undefined'),
  'an endless response': (_, response) => {
    const send = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    }
    response.on('drain', send)
    send()
  },
  'no response': (request) => request.socket.destroy(),
}

const open = (paths: Paths) => connect({ paths, start: false, root: '', notify: () => undefined })

for (const [name, listener] of Object.entries(IMPOSTORS))
  test(`a program with the port and process id of a killed daemon gets no token: ${name}`, async ({
    paths,
    listen,
    writeRecord,
    received,
  }) => {
    const { url } = await listen(listener)
    for (const record of [{ url, secret: SECRET }, { url }]) {
      writeRecord(record)
      await open(paths).then(
        () => assert.unreachable(`connected with ${JSON.stringify(record)}`),
        (error) => assert.instance(error, UnreachableError),
      )
    }
    assert.ok(received.length > 0)
    assert.equal(received.filter(Boolean), [])
  })

test('a program that never answers gets no token', async ({ paths, listen, writeRecord, received }) => {
  const { url } = await listen(() => {})
  writeRecord({ url, secret: SECRET })
  assert.instance(await withTimeoutFactor(0.01, () => open(paths).catch((error: Error) => error)), UnreachableError)
  assert.equal(received, [undefined])
})

test('a daemon that proves itself gets the token, and so does the next one at the same address', async ({
  paths,
  listen,
  writeRecord,
  received,
}) => {
  const first = await listen(respondAsDaemon(SECRET))
  writeRecord({ url: first.url, secret: SECRET })
  const connection = await open(paths)
  await (await sendOnce(connection, { method: 'GET', path: '/api/agents' })).text()
  assert.equal(received.splice(0).filter(Boolean), [`Bearer ${ADMIN_TOKEN}`])
  await stop(first.server)
  await waitForClosedSockets(connection)
  await listen(respondAsDaemon('c'.repeat(64)), first.port)
  writeRecord({ url: first.url, secret: 'c'.repeat(64) })
  await (await sendOnce(connection, { method: 'GET', path: '/api/agents' })).text()
  assert.equal(received.filter(Boolean), [`Bearer ${ADMIN_TOKEN}`])
})

test('a chat that is already connected sends no token to a program that takes the port', async ({
  paths,
  listen,
  writeRecord,
  received,
}) => {
  const daemon = await listen(respondAsDaemon(SECRET))
  writeRecord({ url: daemon.url, secret: SECRET })
  const connection = await open(paths)
  await (await sendOnce(connection, { method: 'GET', path: '/api/agents' })).text()
  await stop(daemon.server)
  await waitForClosedSockets(connection)
  await listen(respondAsDaemon('b'.repeat(64)), daemon.port)
  received.length = 0
  const rejected = await sendOnce(connection, { method: 'GET', path: '/api/agents' }).catch((error: Error) => error)
  assert.instance(rejected, UnreachableError)
  assert.equal(received, [undefined])
})

/** Ways to choose a URL and a token. */
const CHOICES: Record<string, (paths: Paths, url: string) => { profile?: string; environment?: Record<string, string> }> = {
  'CADRE_URL and CADRE_TOKEN': (_, url) => ({ environment: { CADRE_URL: url, CADRE_TOKEN: ADMIN_TOKEN } }),
  'another name of the host': (_, url) => ({
    environment: { CADRE_URL: url.replace('127.0.0.1', 'localhost'), CADRE_TOKEN: ADMIN_TOKEN },
  }),
  'the settings url and token': (paths, url) => {
    writeFileSync(paths.settings, JSON.stringify({ url, token: ADMIN_TOKEN }))
    return {}
  },
  'a profile': (paths, url) => {
    writeFileSync(paths.profiles, JSON.stringify({ profiles: { own: { url, token: ADMIN_TOKEN } } }))
    return { profile: 'own' }
  },
}

/** Connects with a choice and sends a request. */
async function requestWith(paths: Paths, { profile, environment = {} }: ReturnType<(typeof CHOICES)[string]>): Promise<void> {
  Object.assign(process.env, environment)
  try {
    const connection = await connect({ paths, profile, start: false, root: '', notify: () => undefined })
    await (await sendOnce(connection, { method: 'GET', path: '/api/agents' })).text()
  } finally {
    for (const name of Object.keys(environment)) delete process.env[name]
  }
}

for (const [name, choose] of Object.entries(CHOICES))
  test(`a chosen token is sent to the address of the daemon only if the daemon proves itself: ${name}`, async ({
    paths,
    listen,
    writeRecord,
    received,
  }) => {
    const { server, url, port } = await listen(respondAsDaemon(SECRET))
    writeRecord({ url, secret: SECRET })
    const choice = choose(paths, url)
    await requestWith(paths, choice)
    assert.equal(received.splice(0).filter(Boolean), [`Bearer ${ADMIN_TOKEN}`])
    await stop(server)
    await listen(respondAsDaemon('b'.repeat(64)), port)
    const error = await requestWith(paths, choice).catch((caught: unknown) => caught)
    assert.instance(error, UnreachableError)
    assert.match((error as UnreachableError).hint ?? '', `delete ${paths.daemon}`)
    assert.ok(received.length > 0)
    assert.equal(received.filter(Boolean), [])
  })

test('a chosen token is sent to a service that is not at the address of the daemon of this home', async ({
  paths,
  listen,
  writeRecord,
  received,
}) => {
  const { url } = await listen(respondAsDaemon('b'.repeat(64)))
  const choice = { environment: { CADRE_URL: url, CADRE_TOKEN: 'cadre_other' } }
  await requestWith(paths, choice)
  writeRecord({ url: 'http://127.0.0.1:1', secret: SECRET })
  await requestWith(paths, choice)
  assert.equal(received.filter(Boolean), Array(2).fill('Bearer cadre_other'))
})

test('the admin token is not sent to another port of this machine', async ({ paths, listen, writeRecord, received }) => {
  const daemon = await listen(respondAsDaemon(SECRET))
  const other = await listen(respondAsDaemon(SECRET))
  writeRecord({ url: daemon.url, secret: SECRET })
  for (const url of [other.url, other.url.replace('127.0.0.1', 'localhost')]) {
    writeFileSync(paths.settings, JSON.stringify({ url }))
    const connection = await open(paths)
    assert.is(connection.token, undefined, url)
  }
  writeFileSync(paths.settings, JSON.stringify({ url: daemon.url.replace('127.0.0.1', 'localhost') }))
  const connection = await open(paths)
  assert.equal([connection.url, connection.token], [daemon.url, ADMIN_TOKEN])
  assert.equal(received.filter(Boolean), [])
})

test('a process of another user is not the daemon', () => {
  const { kill } = process
  try {
    process.kill = () => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
    }
    assert.not(isProcessAlive(1))
  } finally {
    process.kill = kill
  }
  assert.ok(isProcessAlive(process.pid))
})

test('a program that does not prove itself is not stopped; a daemon that is already ending counts as stopped', async ({
  paths,
  listen,
  writeRecord,
}) => {
  const child = spawn('sleep', ['1000'])
  let isEnding = false
  const { url } = await listen(({ socket }) => {
    socket.destroy()
    // A killed process closes its connections before it is gone.
    if (isEnding) setTimeout(() => child.kill('SIGKILL'), 100)
  })
  writeRecord({ url, secret: SECRET, pid: child.pid })
  try {
    const error = await withTimeoutFactor(0.1, () => stopDaemon(paths).catch((error: Error) => error))
    assert.match(String(error), `Process ${child.pid} does not respond at ${url}`)
    assert.ok(isProcessAlive(child.pid ?? 0))
    isEnding = true
    assert.is(await withTimeoutFactor(100, () => stopDaemon(paths)), false)
  } finally {
    child.kill('SIGKILL')
  }
})

test.run()
