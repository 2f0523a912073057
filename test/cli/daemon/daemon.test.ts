/** The daemon commands: one daemon per home, started when needed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createService } from '../../../src/cli/daemon/service-unit.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('daemon at the terminal')
/** For tests that only need a running daemon. */
let shared: Terminal

test.before(() => {
  shared = openTerminal()
})
test.after(reportFailure(() => shared.close()))

async function withTerminal(work: (terminal: Terminal) => Promise<void>, environment?: Record<string, string>): Promise<void> {
  const terminal = openTerminal(environment)
  try {
    await work(terminal)
  } finally {
    await terminal.close()
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

test('a command starts the daemon and reports it; --no-start and the start setting prevent it', () =>
  withTerminal(async (terminal) => {
    const refused = await terminal.run(['agents', 'list', '--no-start'])
    assert.equal([refused.code, refused.stdout], [5, ''])
    assert.match(refused.stderr, 'cadre daemon start')
    await terminal.run(['config', 'set', 'start', 'false'])
    assert.is((await terminal.run(['agents', 'list'])).code, 5)
    await terminal.run(['config', 'unset', 'start'])
    assert.is((await terminal.run(['daemon', 'status'])).code, 5)
    const started = await terminal.run(['agents', 'list', '--json'])
    assert.equal([started.code, started.stdout], [0, '[]\n'])
    assert.match(started.stderr, /Started the Cadre daemon at http:\/\/127\.0\.0\.1:\d+/)
    assert.is((await terminal.run(['agents', 'list', '--json'])).stderr, '')
    assert.is((await terminal.json(['daemon', 'status'])).running, true)
  }))

test('five concurrent starts result in one daemon, and all exit with 0', async () => {
  const ran = await Promise.all(Array.from({ length: 5 }, () => shared.run(['daemon', 'start', '--json'])))
  assert.equal(
    ran.filter(({ code }) => code !== 0).map(({ stderr }) => stderr),
    [],
  )
  assert.is(new Set(ran.map(({ stdout }) => (JSON.parse(stdout) as { pid: number }).pid)).size, 1)
})

test('restart starts a new process at the same address or CADRE_PORT; stop removes its record', () =>
  withTerminal(async (terminal) => {
    const before = await terminal.json(['daemon', 'start'])
    const after = await terminal.json(['daemon', 'restart'])
    assert.is(after.url, before.url)
    assert.is.not(after.pid, before.pid)
    const environment = { CADRE_PORT: String(await freePort()) }
    const moved = await terminal.run(['daemon', 'restart'], { environment })
    assert.match(moved.stderr, `Started the Cadre daemon at http://127.0.0.1:${environment.CADRE_PORT}\n`)
    assert.is((await terminal.json(['daemon', 'restart', '--port', new URL(String(before.url)).port], { environment })).url, before.url)
    assert.equal(await terminal.json(['daemon', 'stop']), { stopped: true })
    assert.not.ok(existsSync(join(terminal.home, 'daemon.json')))
    assert.equal(await terminal.json(['daemon', 'stop']), { stopped: false })
  }))

test('daemon run prints its address and exits on SIGINT', () =>
  withTerminal(async (terminal) => {
    const run = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))
    const child = spawn(process.execPath, [run, 'daemon', 'run', '--port', '0'], {
      env: { ...process.env, CADRE_HOME: terminal.home, CADRE_KEYCHAIN: 'off' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    assert.match(line.toString(), /^Cadre is ready at http:\/\/127\.0\.0\.1:\d+\n$/)
    assert.is((JSON.parse(readFileSync(join(terminal.home, 'daemon.json'), 'utf8')) as { pid: number }).pid, child.pid)
    const second = await terminal.run(['daemon', 'run'])
    assert.is(second.code, 75)
    child.kill('SIGINT')
    const [code] = (await once(child, 'exit')) as [number]
    assert.is(code, 0)
  }))

test('daemon start reports why the daemon cannot start', () =>
  withTerminal(async (terminal) => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { code, stderr } = await terminal.run(['daemon', 'start', '--port', String((server.address() as AddressInfo).port)])
    server.close()
    assert.is(code, 5)
    assert.match(stderr, 'is in use')
    assert.is((await terminal.run(['daemon', 'start', '--host', '0.0.0.0'])).code, 5)
  }))

test('daemon logs prints JSON lines, and formatted lines with --pretty', async () => {
  await shared.run(['daemon', 'start'])
  const lines = (await shared.run(['daemon', 'logs', '--lines', '1'])).stdout.trim().split('\n')
  assert.is(lines.length, 1)
  assert.type((JSON.parse(lines[0] ?? '') as { msg: string }).msg, 'string')
  assert.match((await shared.run(['daemon', 'logs', '--pretty'])).stdout, /INFO +ready/)
})

test('daemon logs -f follows new lines and exits with 130 on SIGINT', () =>
  withTerminal(async (terminal) => {
    mkdirSync(join(terminal.home, 'logs'), { recursive: true })
    const log = join(terminal.home, 'logs', 'daemon.log')
    writeFileSync(log, '{"msg":"old"}\n')
    const run = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))
    const child = spawn(process.execPath, [run, 'daemon', 'logs', '-f'], {
      env: { ...process.env, CADRE_HOME: terminal.home },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    assert.is(String(await once(child.stdout, 'data')), '{"msg":"old"}\n')
    writeFileSync(log, '{"msg":"new"}\n', { flag: 'a' })
    assert.is(String(await once(child.stdout, 'data')), '{"msg":"new"}\n')
    child.kill('SIGINT')
    assert.equal(await once(child, 'exit'), [130, null])
  }))

test('a daemon of another version is rejected with the command that fixes it', () =>
  withTerminal(async (terminal) => {
    const server = createServer((_, response) =>
      response
        .setHeader('content-type', 'application/json')
        .end('{"status":"healthy","version":"9.9.9","database":"connected","vector_db":"connected"}'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    mkdirSync(terminal.home, { recursive: true, mode: 0o700 })
    const record = join(terminal.home, 'daemon.json')
    writeFileSync(record, JSON.stringify({ pid: process.pid, url, version: '9.9.9', started_at: '' }))
    const { code, stderr } = await terminal.run(['agents', 'list'])
    assert.is(code, 5)
    assert.match(stderr, /9\.9\.9[\s\S]*cadre daemon restart/)
    writeFileSync(record, '{}')
    server.close()
  }))

test('a remote service is never started and never receives the local token', async () => {
  await shared.run(['daemon', 'start'])
  const seen: (string | undefined)[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.setHeader('content-type', 'application/json')
    response.end(
      request.url?.includes('health')
        ? '{"status":"healthy","version":"9.9.9","database":"connected","vector_db":"connected"}'
        : '{"success":true,"data":[],"pagination":{"page":1,"limit":20,"total":0,"pages":0}}',
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  const { port } = server.address() as AddressInfo
  const elsewhere = await shared.run(['agents', 'list'], { environment: { CADRE_URL: `http://0.0.0.0:${port}/api/` } })
  assert.is(elsewhere.code, 0)
  assert.match(elsewhere.stderr, 'version 9.9.9')
  assert.equal(seen, [undefined, undefined])
  await shared.run(['agents', 'list'], { environment: { CADRE_URL: `http://0.0.0.0:${port}`, CADRE_TOKEN: 'chosen' } })
  assert.is(seen.at(-1), 'Bearer chosen')
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  assert.is((await shared.run(['agents', 'list'], { environment: { CADRE_URL: `http://127.0.0.1:${port}` } })).code, 5)
})

test('daemon install writes a unit that runs this command with this home', async () => {
  const options = { node: '/usr/bin/node', run: '/opt/my cadre/bin/run.js', home: '/home/ada/50%', arguments: ['--port', '7500'] }
  const unit = createService({ ...options, platform: 'linux' })
  assert.match(unit.text, 'ExecStart="/usr/bin/node" "/opt/my cadre/bin/run.js" "daemon" "run" "--port" "7500"')
  assert.match(
    unit.text,
    'Environment="CADRE_HOME=/home/ada/50%%"\nEnvironment=MALLOC_ARENA_MAX=2\nEnvironment=MALLOC_MMAP_THRESHOLD_=131072\n',
  )
  assert.match(createService({ ...options, platform: 'darwin' }).text, '<string>/opt/my cadre/bin/run.js</string>')
  assert.throws(() => createService({ ...options, platform: 'win32' }), /not supported/)
  await withTerminal(async (terminal) => {
    assert.match((await terminal.run(['daemon', 'install', '--print'])).stdout, terminal.home)
    const { file } = await terminal.json<{ file: string }>(['daemon', 'install'])
    assert.match(readFileSync(file, 'utf8'), terminal.home)
    await terminal.run(['daemon', 'uninstall'])
    assert.not.ok(existsSync(file))
  })
})

test.run()
