/** A command that is newer than the running daemon restarts it. An older daemon is a small server with its own process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isNewerVersion } from '../../../src/version.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'

const test = suite('upgrade of the daemon')

test('versions are compared by number, and a preview is older than its release', () => {
  const ascending = ['0.1.0', '0.1.1', '0.2.0', '0.10.0', '1.0.0-beta.2', '1.0.0-beta.10', '1.0.0']
  for (const [at, version] of ascending.entries())
    for (const [other, compared] of ascending.entries()) assert.is(isNewerVersion(version, compared), at > other, `${version} ${compared}`)
  assert.not(isNewerVersion('1.0.0+build.2', '1.0.0+build.1'))
})

/** Reports one reply for the first two requests of its status, and exits when it is told to stop. */
const OLD_DAEMON = `
  const { writeFileSync, rmSync } = require('node:fs')
  const { createHmac } = require('node:crypto')
  const [home, fields] = process.argv.slice(1)
  const secret = 'secret of an old daemon'
  const prove = (url) => createHmac('sha256', secret).update(url.slice(-64)).digest('hex')
  let asked = 0
  const health = { status: 'healthy', version: '0.0.1', database: 'connected', vector_db: 'connected' }
  const server = require('node:http').createServer((request, response) => {
    const getStatus = () => ({ success: true, data: { queues: { replies: asked++ < 2 ? 1 : 0 } } })
    response.setHeader('content-type', 'application/json')
    if (request.url.includes('live')) response.end(JSON.stringify({ status: 'live', proof: prove(request.url) }))
    else response.end(JSON.stringify(request.url.startsWith('/api/status') ? getStatus() : health))
  })
  server.listen(0, '127.0.0.1', () => {
    const url = 'http://127.0.0.1:' + server.address().port
    const record = { pid: process.pid, url, version: '0.0.1', started_at: '', secret, ...JSON.parse(fields) }
    writeFileSync(home + '/daemon.json', JSON.stringify(record))
    console.log(url)
  })
  process.on('SIGTERM', () => { console.log('stopped after ' + asked); rmSync(home + '/daemon.json'); process.exit(0) })
`

async function withOldDaemon(
  fields: object,
  work: (terminal: Terminal, daemon: ChildProcess, url: string, output: () => string) => Promise<void>,
): Promise<void> {
  const terminal = openTerminal()
  mkdirSync(terminal.home, { recursive: true, mode: 0o700 })
  const daemon = spawn(process.execPath, ['-e', OLD_DAEMON, terminal.home, JSON.stringify(fields)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  daemon.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  try {
    await once(daemon.stdout, 'data')
    await work(terminal, daemon, output.trim(), () => output)
  } finally {
    if (daemon.exitCode === null && daemon.kill('SIGKILL')) await once(daemon, 'close')
    await terminal.close()
  }
}

test('a newer command waits for replies, stops the older daemon and starts its own at the same address', () =>
  withOldDaemon({}, async (terminal, daemon, url, output) => {
    const ended = once(daemon, 'close')
    const { code, stderr } = await terminal.run(['agents', 'list'])
    assert.is(code, 0, stderr)
    assert.match(stderr, 'Waiting for 1 reply before the daemon is restarted')
    assert.match(stderr, 'Restarting the Cadre daemon: it is version 0.0.1')
    await ended
    assert.match(output(), 'stopped after 3')
    assert.is(terminal.url(), url)
    assert.not.match((await terminal.run(['agents', 'list'])).stderr, 'Restarting')
  }))

test('a daemon without a secret, as of version 0.1, is replaced without a request that has a token', () =>
  withOldDaemon({ secret: null, version: '0.0.1' }, async (terminal, daemon, _, output) => {
    const ended = once(daemon, 'close')
    const { code, stderr } = await terminal.run(['agents', 'list'])
    assert.is(code, 0, stderr)
    await ended
    assert.match(output(), 'stopped after 0')
  }))

test('a daemon in the foreground, and one that must not be started, are not replaced', async () => {
  await withOldDaemon({ foreground: true }, async (terminal, daemon) => {
    const { code, stderr } = await terminal.run(['agents', 'list'])
    assert.is(code, 5)
    assert.match(stderr, 'systemctl --user restart cadre')
    assert.is(daemon.exitCode, null)
  })
  await withOldDaemon({}, async (terminal, daemon) => {
    const { code, stderr } = await terminal.run(['agents', 'list', '--no-start'])
    assert.is(code, 5)
    assert.match(stderr, 'cadre daemon restart')
    assert.is(daemon.exitCode, null)
  })
})

test.run()
