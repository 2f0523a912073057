import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseOptions, UsageError } from '../../../daemon/process/parse-options.ts'
import { type DaemonRecord, environmentOverrides, homePaths, type Paths } from '../../../src/config.ts'
import { type DaemonProcess, runDaemonToExit, spawnDaemon, startDaemon, waitForExit } from '../../harness/daemon.ts'

interface Context {
  home: string
  paths: Paths
  /** Starts a daemon with the home of the test; it is stopped after the test. */
  start(options?: Parameters<typeof startDaemon>[1]): Promise<DaemonProcess>
  started: DaemonProcess[]
}

const test = suite<Context>('process')

test.before.each((context) => {
  context.home = join(mkdtempSync(join(tmpdir(), 'cadre-process-')), 'home')
  context.paths = homePaths({ CADRE_HOME: context.home })
  context.started = []
  context.start = async (options) => {
    const daemon = await startDaemon(context.home, options)
    context.started.push(daemon)
    return daemon
  }
})
test.after.each(async ({ home, started }) => {
  for (const daemon of started) await daemon.stop('SIGKILL')
  rmSync(join(home, '..'), { recursive: true, force: true })
})

const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined
const readDaemonRecord = (paths: Paths) => JSON.parse(readFileSync(paths.daemon, 'utf8')) as DaemonRecord
const readAdminToken = (paths: Paths) => readFileSync(paths.token, 'utf8').trim()
const listAllFiles = (home: string) => readdirSync(home, { recursive: true, encoding: 'utf8' }).map((name) => join(home, name))
/** A Node option that runs code in the daemon's process before the daemon. */
const createImportOption = (code: string) => `--import=data:text/javascript,${encodeURIComponent(code)}`
const readLog = (paths: Paths) => readFileSync(paths.log, 'utf8')

test('the daemon prints one line when ready, answers requests and writes daemon.json', async ({ paths, start }) => {
  const daemon = await start()
  const health = await daemon.get('/api/health', '')
  assert.is(health.status, 200)
  assert.is(health.body.status, 'healthy')
  const { pid, url, version, started_at } = readDaemonRecord(paths)
  assert.equal({ pid, url, version }, { pid: daemon.child.pid, url: daemon.url, version: health.body.version })
  assert.ok(Date.parse(started_at) > 0)
  await daemon.stop()
  const { stdout, stderr } = await daemon.exited
  assert.equal({ stdout, stderr }, { stdout: `Cadre is ready at ${daemon.url}\n`, stderr: '' })
})

test('a home behind a symbolic link is the same home: it has one daemon, and its files stay private', async ({ home, paths, start }) => {
  const first = await start()
  const link = join(home, '..', 'link')
  symlinkSync(home, link)
  const second = await runDaemonToExit(link)
  assert.is(second.code, 75)
  assert.match(second.stderr, `pid ${first.child.pid}`)
  await first.stop()
  const linked = await startDaemon(link)
  try {
    assert.is(readDaemonRecord(paths).pid, linked.child.pid)
    assert.is(statSync(home).mode & 0o777, 0o700)
  } finally {
    await linked.stop()
  }
})

test('a second daemon for the same home exits and names the first one', async ({ home, start }) => {
  const first = await start()
  const { code, stdout, stderr } = await runDaemonToExit(home)
  assert.is(code, 75)
  assert.is(stdout, '')
  assert.is(stderr, `Another Cadre daemon is already running for this home (${first.url}, pid ${first.child.pid}).\n`)
  assert.is((await first.get('/api/health', '')).status, 200)
})

test('of six daemons started at the same time, one runs and the others exit', async ({ home, paths }) => {
  const children = Array.from({ length: 6 }, () => spawnDaemon(home))
  const endings = children.map((child) => waitForExit(child))
  const ready = children.map((child) => once(child.stdout as NodeJS.ReadableStream, 'data').then(() => child))
  const first = await Promise.race(ready)
  const others = await Promise.all(endings.filter((_, index) => children[index] !== first))
  assert.equal([...new Set(others.map(({ code }) => code))], [75])
  assert.is(others.filter(({ stdout }) => stdout !== '').length, 0)
  assert.is(readDaemonRecord(paths).pid, first.pid)
  assert.is(first.exitCode, null)
  first.kill('SIGTERM')
  await Promise.all(endings)
})

test('after kill -9 the next daemon starts with the same token and data', async ({ paths, start }) => {
  const first = await start()
  const token = readAdminToken(paths)
  const created = await first.post('/api/agents', { name: 'Survivor' }, token)
  assert.is(created.status, 201, JSON.stringify(created))
  await first.stop('SIGKILL')
  assert.is(readDaemonRecord(paths).pid, first.child.pid)
  const second = await start()
  assert.is(readDaemonRecord(paths).pid, second.child.pid)
  assert.is((await second.get(`/api/agents/${created.body.data.id}`, token)).body.data?.name, 'Survivor')
})

test('SIGTERM and SIGINT stop the daemon with 0 despite open connections, and remove daemon.json', async ({ paths, start }) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const daemon = await start()
    await daemon.get('/api/status', readAdminToken(paths))
    assert.is(await daemon.stop(signal), 0)
    assert.not(exists(paths.daemon))
    assert.match(readLog(paths), '"msg":"stopped"')
  }
})

test('the daemon does not remove the daemon.json of another process', async ({ paths, start }) => {
  const daemon = await start()
  const foreign = JSON.stringify({ ...readDaemonRecord(paths), pid: 1 })
  writeFileSync(paths.daemon, foreign)
  await daemon.stop()
  assert.is(readFileSync(paths.daemon, 'utf8'), foreign)
})

test('listening on other interfaces requires --host and --allow-remote', async ({ home, paths, start }) => {
  for (const host of ['0.0.0.0', '::', 'example.test', '0'])
    assert.throws(
      () => parseOptions(['--host', host]),
      (error: Error) => error instanceof UsageError && /--allow-remote/.test(error.message),
    )
  const { code, stderr } = await runDaemonToExit(home, { arguments: ['--port', '0', '--host', ''] })
  assert.equal([code, exists(paths.home)], [2, false])
  assert.match(stderr, '--host needs an address')
  const daemon = await start({ arguments: ['--port', '0', '--host', '0.0.0.0', '--allow-remote'] })
  assert.match(daemon.url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.is((await daemon.get('/api/health', '')).status, 200)
})

test('invalid options and settings stop the daemon with an explanation', async ({ home }) => {
  assert.throws(() => parseOptions(['--port', '70000']), /--port must be/)
  assert.throws(() => parseOptions(['--prot', '1']), /--prot/)
  assert.throws(() => environmentOverrides({ CADRE_PORT: 'x' }), /CADRE_PORT must be/)
  const { code, stderr } = await runDaemonToExit(home, { arguments: [], environment: { CADRE_LOG_LEVEL: 'loud' } })
  assert.is(code, 1, stderr)
  assert.match(stderr, /CADRE_LOG_LEVEL must be one of/)
})

test('a port in use is reported with a hint, and the home is unlocked again', async ({ home, paths, start }) => {
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  const { port } = occupant.address() as { port: number }
  try {
    const { code, stderr, stdout } = await runDaemonToExit(home, { arguments: [], environment: { CADRE_PORT: String(port) } })
    assert.is(code, 1)
    assert.is(stdout, '')
    assert.match(stderr, `Port ${port} on 127.0.0.1 is in use`)
    assert.match(stderr, '--port 0')
    assert.not(exists(paths.daemon))
  } finally {
    occupant.close()
  }
  await start()
})

test('all files in the home are private whatever the umask', async ({ home, paths, start }) => {
  const before = process.umask(0)
  try {
    const daemon = await start()
    const token = readAdminToken(paths)
    await daemon.post('/api/models', { name: 'Keyed', provider: 'openai', model_id: 'gpt', api_key: 'sk-0123456789' }, token)
    const source = await daemon.post('/api/knowledge-sources', { name: 'Notes', type: 'text', configuration: { text: 'a note' } }, token)
    assert.is(source.status, 201, JSON.stringify(source))
  } finally {
    process.umask(before)
  }
  for (const path of [home, ...listAllFiles(home)]) {
    const found = statSync(path)
    assert.is((found.mode & 0o777).toString(8), found.isDirectory() ? '700' : '600', path)
  }
})

test('the first token is stored; CADRE_TOKEN sets it at the first start only', async ({ home, paths, start }) => {
  const chosen = 'a-token-of-my-own-choosing-0123456789'
  const first = await start({ token: chosen })
  assert.is(readAdminToken(paths), chosen)
  assert.is((await first.get('/api/tokens', chosen)).status, 200)
  await first.stop()
  const second = await start({ token: 'another-token-0123456789-0123456789' })
  assert.is((await second.get('/api/tokens', chosen)).status, 200)
  assert.is((await second.get('/api/tokens', 'another-token-0123456789-0123456789')).status, 401)
  await second.stop()
  for (const path of listAllFiles(home))
    if (statSync(path).isFile() && path !== paths.token) assert.not(readFileSync(path).includes(chosen), path)
})

test("secrets appear in clear text neither in files of the home nor in the daemon's output", async ({ home, paths, start }) => {
  const canary = 'sk-canary-5f1d0c27/9b+e4a6'
  const daemon = await start({ arguments: ['--port', '0', '--verbose'], environment: { CADRE_LOG_LEVEL: 'trace' } })
  const token = readAdminToken(paths)
  const answers = [
    await daemon.post('/api/models', { name: 'Canary', provider: 'openai', model_id: 'gpt', api_key: canary }, token),
    await daemon.post('/api/models', { name: 'Canary', provider: 'nobody', model_id: 'gpt', api_key: canary }, token),
    await daemon.post(
      '/api/tools/api',
      {
        name: 'Canary',
        description: 'x',
        method: 'GET',
        url: 'https://example.test',
        headers: { 'x-key': canary },
        auth: { type: 'bearer', token: canary },
      },
      token,
    ),
    await daemon.get(`/api/models?key=${encodeURIComponent(canary)}`, token),
    await daemon.get(`/api/${encodeURIComponent(canary)}`, token),
    await daemon.get('/api/models', canary),
  ]
  assert.is(answers[0]?.status, 201, JSON.stringify(answers[0]))
  const id = answers[0]?.body.data.id as string
  const stored = await daemon.get(`/api/models/${id}`, token)
  assert.is(stored.body.data.has_api_key, true)
  await daemon.stop()
  const { stdout, stderr } = await daemon.exited
  const spellings = [canary, encodeURIComponent(canary), Buffer.from(canary).toString('base64').slice(0, -4)]
  const places: [string, Buffer | string][] = [
    ['stdout', stdout],
    ['stderr', stderr],
    ['the stored model', JSON.stringify(stored.body)],
    ['the created model', JSON.stringify(answers[0]?.body)],
  ]
  for (const path of listAllFiles(home)) if (statSync(path).isFile()) places.push([path, readFileSync(path)])
  assert.ok(places.length > 8 && stderr.includes('"msg":"request"'), 'too few files and outputs to search')
  for (const [where, text] of places) for (const spelling of spellings) assert.not(text.includes(spelling), `${spelling} is in ${where}`)
})

test('the daemon keeps running when its output is closed', async ({ paths, start }) => {
  const daemon = await start({ arguments: ['--port', '0', '--verbose'] })
  daemon.child.stdout?.destroy()
  daemon.child.stderr?.destroy()
  const token = readAdminToken(paths)
  for (let round = 0; round < 3; round++) assert.is((await daemon.post('/api/agents', {}, token)).status, 400)
  assert.is((await daemon.get('/api/health', '')).status, 200)
  assert.is(daemon.child.exitCode, null)
})

test('an uncaught error or rejection is logged without secrets and exits with 1', async ({ paths, start }) => {
  const token = 'a-token-of-my-own-choosing-0123456789'
  for (const failure of ['throw ', 'Promise.reject']) {
    // Fails on a signal that the daemon does not handle.
    const NODE_OPTIONS = createImportOption(`process.on('SIGWINCH', () => { ${failure}(new Error('planted ${token}')) })`)
    const daemon = await start({ environment: { CADRE_TOKEN: token, NODE_OPTIONS } })
    daemon.child.kill('SIGWINCH')
    const { code, stderr } = await daemon.exited
    assert.is(code, 1)
    assert.match(stderr, /planted \[redacted\]\nThis is a bug/)
    assert.match(readLog(paths), /"level":"fatal".*planted \[redacted\]/)
    assert.not(exists(paths.daemon))
    assert.not.match(readLog(paths), token)
    rmSync(paths.log)
  }
})

/** Simulates a shutdown that hangs: the HTTP server never reports that it is closed. */
const HANGING_CLOSE_OPTION = createImportOption("import { Server } from 'node:http'; Server.prototype.close = function () { return this }")

async function waitUntilStopping(daemon: DaemonProcess): Promise<void> {
  daemon.child.kill('SIGTERM')
  for await (const part of daemon.child.stderr as AsyncIterable<string>) if (part.includes('"msg":"stopping"')) return
}

test('a shutdown that takes too long is aborted and exits with 0', async ({ paths, start }) => {
  const daemon = await start({ environment: { NODE_OPTIONS: HANGING_CLOSE_OPTION, CADRE_TIMEOUT_FACTOR: '0.01' } })
  assert.is(await daemon.stop(), 0)
  assert.not(exists(paths.daemon))
  assert.match(readLog(paths), 'shutdown did not finish')
})

test('a second signal stops the daemon immediately', async ({ paths, start }) => {
  const daemon = await start({ arguments: ['--port', '0', '--verbose'], environment: { NODE_OPTIONS: HANGING_CLOSE_OPTION } })
  await waitUntilStopping(daemon)
  assert.is(await daemon.stop('SIGINT'), 1)
  assert.not(exists(paths.daemon))
})

test.run()
