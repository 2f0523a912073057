import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startStartupServer } from '../../../daemon/process/startup-server.ts'
import { startDaemon } from '../../harness/daemon.ts'
import { Collector } from '../telemetry/collector.ts'

const test = suite('startup server')

/** Below the ports that systems give to programs that ask for any, so that no other test has it a moment later. */
async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').catch(() => undefined)
    await new Promise((resolve) => server.close(resolve))
    if (isFree) return port
  }
}

async function fetchStatus(port: number, path: string) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  const body = (await response.json()) as { status?: string; code?: string; error?: string }
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body }
}

test('while the daemon starts it is live and not ready', async () => {
  const port = await findFreePort()
  const server = await startStartupServer('127.0.0.1', port)
  for (const prefix of ['/api', '/api/v1'])
    assert.equal(await fetchStatus(port, `${prefix}/health/live`), { status: 200, retryAfter: null, body: { status: 'live' } })
  for (const path of ['/api/health/ready', '/api/health', '/api/agents', '/']) {
    const { status, retryAfter, body } = await fetchStatus(port, path)
    assert.equal([status, retryAfter, body.code, body.error], [503, '1', 'UNAVAILABLE', 'The daemon is starting.'])
  }
  const error = await startStartupServer('127.0.0.1', port).catch((failure: Error) => failure)
  assert.match(String(error), 'EADDRINUSE')
  await server.close()
  await (await startStartupServer('127.0.0.1', port)).close()
})

test('a daemon in the foreground answers probes while it starts, takes over its port, and sends its last traces', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-startup-'))
  const port = await findFreePort()
  const collector = await Collector.start()
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.server.origin, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=abc' }
  const starting = startDaemon(join(folder, 'home'), { arguments: ['--port', String(port), '--foreground'], environment })
  const seen: string[] = []
  for (let isReady = false; !isReady; await new Promise((resolve) => setTimeout(resolve, 10))) {
    const answer = await fetchStatus(port, '/api/health/ready').catch(() => undefined)
    isReady = answer?.status === 200
    if (answer) seen.push(`${answer.status} ${answer.body.status ?? answer.body.error}`)
  }
  const daemon = await starting
  assert.equal([...new Set(seen)], ['503 The daemon is starting.', '200 ready'])
  assert.equal(await daemon.stop(), 0)
  assert.ok(collector.spans.some(({ name }) => name === 'GET /api/health/ready'))
  assert.is(collector.server.requests[0]?.headers['x-key'], 'abc')
  await collector.close()
  rmSync(folder, { recursive: true })
})

test.run()
