import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('client errors')
let server: TestServer
let port: number

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    port = Number(new URL(await server.app.server.listen({ host: '127.0.0.1', port: 0 })).port)
  }),
)
test.after(reportFailure(() => server.close()))

/** Sends raw bytes and returns the response. */
async function sendBytes(
  bytes: string,
): Promise<{ status: number; headers: string; body: { success: boolean; error: string; code: string; request_id: string } }> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), headers: head, body: JSON.parse(body) }
}

const CASES: [name: string, bytes: string, status: number, code: string, error: RegExp][] = [
  ['a request that is not HTTP', '\u0000\u0001\r\n\r\n', 400, 'VALIDATION_ERROR', /not valid HTTP/],
  ['a path with invalid bytes', 'GET /api/agents/\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'VALIDATION_ERROR', /not valid HTTP/],
  [
    'a request with Content-Length and Transfer-Encoding',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    'VALIDATION_ERROR',
    /not valid HTTP/,
  ],
  [
    'a request with headers over 16 KB',
    `GET /api/health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    413,
    'PAYLOAD_TOO_LARGE',
    /headers/,
  ],
  [
    'a request with two Host headers',
    'GET /api/health HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\nConnection: close\r\n\r\n',
    400,
    'VALIDATION_ERROR',
    /several Host headers/,
  ],
  [
    'a request with the URL of another host',
    'GET http://evil.example/api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    400,
    'VALIDATION_ERROR',
    /URL of the request names another host/,
  ],
  ['a request without Host', 'GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n', 403, 'FORBIDDEN', /Host header/],
]
for (const [name, bytes, status, code, error] of CASES) {
  test(`${name} is rejected with an error body`, async () => {
    const answer = await sendBytes(bytes)
    assert.equal([answer.status, answer.body.success, answer.body.code], [status, false, code])
    assert.match(answer.body.error, error)
    assert.match(answer.headers.toLowerCase(), `x-request-id: ${answer.body.request_id}`)
  })
}

test('a request with the whole URL of this host is accepted', async () => {
  const { status } = await sendBytes('GET http://localhost/api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  assert.is(status, 200)
})

test.run()
