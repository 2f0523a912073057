import { once } from 'node:events'
import { connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import { ADMIN_TOKEN, TestServer } from '../harness/test-server.ts'

const test = suite('request smuggling')
let server: TestServer
let port: number

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    port = Number(new URL(await server.app.server.listen({ host: '127.0.0.1', port: 0 })).port)
  }),
)
test.after(reportFailure(() => server.close()))

/** Sends bytes and returns the status of each response. */
async function send(text: string): Promise<string[]> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    received += part
  })
  socket.on('error', () => {})
  socket.end(text)
  await once(socket, 'close')
  return [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status as string)
}

/** Two requests of which a proxy would see one: each has another idea of where the body ends. */
const BODIES: Record<string, (hidden: string) => string> = {
  'length and chunks': (hidden) => `Content-Length: ${hidden.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'chunks and length': (hidden) => `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${hidden}`,
  'two lengths': (hidden) => `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  'a list of lengths': (hidden) => `Content-Length: 0, ${hidden.length}\r\n\r\n${hidden}`,
  'a signed length': (hidden) => `Content-Length: +0\r\n\r\n${hidden}`,
  'an unknown coding': (hidden) => `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
  'a coding after chunked': (hidden) => `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
  'a space before the colon': (hidden) => `Transfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n${hidden}`,
  'a folded header': (hidden) => `X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n${hidden}`,
  'a carriage return in a header': (hidden) => `X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'a line feed in a chunk': (hidden) => `Transfer-Encoding: chunked\r\n\r\n0;\n\r\n\r\n${hidden}`,
  'an enormous chunk': (hidden) => `Transfer-Encoding: chunked\r\n\r\n1000000000000000000000000\r\n${hidden}`,
}
for (const [name, write] of Object.entries(BODIES))
  test(`a request with ${name} is rejected, and what follows it is not run`, async () => {
    const headers = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\nContent-Type: application/json\r\n`
    const body = JSON.stringify({ name: 'smuggled' })
    const hidden = `POST /api/agents HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
    assert.equal(await send(`POST /api/agents HTTP/1.1\r\n${headers}${write(hidden)}`), ['400'])
    assert.equal((await server.get('/agents')).data, [])
  })

test.run()
