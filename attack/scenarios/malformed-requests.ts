/** Generated requests and raw bytes on sockets: documented errors, and the daemon stays healthy. */
import { connect } from 'node:net'
import { runCampaign, startServer } from '../../test/fuzz/campaign.ts'
import { createRandom } from '../../test/harness/create-random.ts'
import { TOKEN } from '../../test/harness/daemon.ts'
import { withDaemon } from '../support/daemon.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'
import { formatSlowest, watchResponses } from '../support/watch-responses.ts'

/** Most of them are waited for until the timeout. */
const CONCURRENT_SOCKETS = 200
const SOCKET_TIMEOUT_MS = 2_000
/** Sent before the answer to a request with Expect: 100-continue. */
const CONTINUE = /^HTTP\/1\.1 100 Continue\r\n\r\n/

export const malformedRequests: Scenario = {
  name: 'malformed-requests',
  promise: 'No request causes an undocumented response or stops the daemon.',
  runsAlone: true,
  async run(options) {
    const violations: string[] = []
    const requests = scaleAmount(10_000, options, 100)
    const server = await startServer()
    try {
      await runCampaign(server, options.seed, requests)
    } catch (error) {
      violations.push((error as Error).message)
    } finally {
      await server.close()
    }
    const sockets = scaleAmount(2_000, options, 50)
    const times = await withDaemon(async ({ url, client, child }) => {
      const others = watchResponses(url)
      const random = createRandom(options.seed)
      const payloads = Array.from({ length: sockets }, () => createPayload(random, new URL(url).host))
      const send = async () => {
        for (let payload = payloads.pop(); payload !== undefined; payload = payloads.pop()) {
          const answer = (await sendBytes(url, payload)).replace(CONTINUE, '')
          const [, status = ''] = /^HTTP\/1\.1 (\d+)/.exec(answer) ?? []
          if (answer !== '' && !(Number(status) >= 200 && Number(status) < 500))
            violations.push(`${JSON.stringify(payload.toString('latin1').slice(0, 200))} was answered with ${answer.slice(0, 200)}`)
        }
      }
      await Promise.all(Array.from({ length: CONCURRENT_SOCKETS }, send))
      const measured = await others.stop()
      violations.push(...measured.failures)
      if (child.exitCode !== null || (await client.get('/agents')).status !== 200) violations.push('the daemon does not answer afterwards')
      return measured
    })
    const figure = `${violations.length} undocumented responses; ${formatSlowest(times)}`
    return { amount: `${requests} malformed requests, ${sockets} raw sockets`, figure, violations }
  },
}

/** Creates a request with one or more mistakes, or bytes that are no request. */
function createPayload(random: () => number, host: string): Buffer {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  if (random() < 0.1) return Buffer.from(Array.from({ length: Math.floor(random() * 2_000) }, () => Math.floor(random() * 256)))
  const method = pick(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE', 'FOO', 'get', '', 'PRI'])
  const path = pick([
    '/api/agents',
    '/',
    '*',
    '//',
    '/api/../../etc/passwd',
    '/api/agents/%00',
    '/%',
    '/api/agents?limit=1e400',
    'http://evil.example/api/agents',
    `/${'a'.repeat(9_000)}`,
  ])
  const version = pick(['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'HTTP/1.1 x', ''])
  const headers = [
    pick([`Host: ${host}`, 'Host: evil.example', `Host: ${host}\r\nHost: evil.example`, '']),
    `Authorization: Bearer ${TOKEN}`,
    pick(['', 'Content-Type: application/json', 'Content-Type: \u0000', 'Content-Type: multipart/form-data; boundary=']),
    pick(['', 'Content-Length: 5', 'Content-Length: -1', 'Content-Length: 99999999999999999999', 'Content-Length: 5\r\nContent-Length: 6']),
    pick(['', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked, gzip', 'Transfer-Encoding: x', 'Transfer-Encoding : chunked']),
    pick([
      '',
      'Expect: 100-continue',
      'Expect: x',
      'Upgrade: websocket\r\nConnection: Upgrade',
      'Upgrade: h2c',
      `X: ${'x'.repeat(20_000)}`,
    ]),
    pick(['', ' folded: line', 'no colon', ':empty', 'X-\u0001: y', 'Range: bytes=0-1,2-3', 'Cookie: '.padEnd(8_000, 'c')]),
  ].filter((line) => line !== '')
  const body = pick(['', '{}', '{"name":', 'ffffffffffffffff\r\n', '0\r\n\r\n', '-1\r\n', '5\r\n{"a":', '[[[[[', '\u0000'.repeat(100)])
  const lineEnd = pick(['\r\n', '\r\n', '\r\n', '\n', '\r'])
  return Buffer.from(`${method} ${path} ${version}${lineEnd}${headers.join(lineEnd)}${lineEnd}${lineEnd}${body}`, 'latin1')
}

/** Sends bytes in pieces and returns the answer, empty if there was none in time. */
function sendBytes(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(Number(port), hostname)
    const timer = setTimeout(() => socket.destroy(), SOCKET_TIMEOUT_MS)
    socket.setEncoding('latin1').on('data', (piece: string) => {
      answer += piece
      // A pipelined second answer would wait for the timeout.
      if (answer.includes('\r\n\r\n')) setTimeout(() => socket.destroy(), 5)
    })
    socket.on('error', () => {}) // the daemon closed the connection
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(answer)
    })
    const middle = Math.floor(bytes.length / 2)
    socket.write(bytes.subarray(0, middle))
    socket.write(bytes.subarray(middle))
  })
}
