/** Requests on connections that the service has closed, and responses that do not begin. */
import { Agent, createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ClientRequest, type Connection, sendOnce } from '../../src/client/request.ts'
import { startDeadline } from '../../src/deadline.ts'

const test = suite('requests')

/** Calls with a service that closes a connection instead of responding twice on it. */
async function withForgetfulService(run: (connection: Pick<Connection, 'url' | 'token' | 'agent'>) => Promise<void>): Promise<void> {
  const served = new WeakSet<Socket>()
  const server = createServer(({ socket }, response) => {
    if (served.has(socket)) return socket.destroy()
    served.add(socket)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ keepAlive: true })
  try {
    await run({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'secret', agent })
  } finally {
    agent.destroy()
    server.close()
  }
}

test('a GET on a connection that was closed meanwhile is sent again on a new one', () =>
  withForgetfulService(async (connection) => {
    for (const _ of [1, 2, 3]) assert.is(await (await sendOnce(connection, { method: 'GET', path: '/api/agents' })).text(), '{}')
  }))

test('a POST is not sent again, because it may have had an effect', () =>
  withForgetfulService(async (connection) => {
    await (await sendOnce(connection, { method: 'POST', path: '/api/agents', body: '{}' })).text()
    const failure = await sendOnce(connection, { method: 'POST', path: '/api/agents', body: '{}' }).catch((error: Error) => error)
    assert.instance(failure, Error)
    assert.match((failure as Error).message, 'ECONNRESET')
  }))

/** Sends a request to a service, and returns the response body or the error message. */
async function sendTo(listener: RequestListener, request: Partial<ClientRequest>): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connection = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: undefined, agent: new Agent() }
  try {
    return await (await sendOnce(connection, { method: 'POST', path: '/api/agents', responseTimeoutMs: 50, ...request })).text()
  } catch (error) {
    return (error as Error).message
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Far more than are sent within the timeout. Then the service responds. */
const PARTS = 1_000

/** Sends the parts one after another, in far shorter intervals than the timeout. */
const drip =
  (start: string, part: string, end: string): RequestListener =>
  ({ socket }) => {
    socket.write(start)
    let parts = 0
    const timer = setInterval(() => {
      if (parts++ < PARTS) return socket.write(part)
      clearInterval(timer)
      socket.end(end)
    }, 5)
    socket.on('close', () => clearInterval(timer))
  }

const EMPTY_RESPONSE = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

for (const [name, listener] of [
  ['nothing', () => {}],
  ['interim responses', drip('', 'HTTP/1.1 102 Processing\r\n\r\n', EMPTY_RESPONSE)],
  ['a header byte by byte', drip('HTTP/1.1 200 OK\r\nx: ', 'a', '\r\ncontent-length: 0\r\n\r\n')],
] as const)
  test(`a response must begin within the timeout, and ${name} is no response`, async () => {
    assert.match(await sendTo(listener, {}), /^The response of http:.* did not begin within 0\.05 seconds\.$/)
  })

test('interim responses are no error', async () => {
  const respond: RequestListener = (_, response) => {
    response.writeProcessing()
    response.end('done')
  }
  assert.is(await sendTo(respond, { responseTimeoutMs: 1_000_000 }), 'done')
})

test('a large body adds to the timeout, because the response begins after it', async () => {
  const listener: RequestListener = (request, response) => {
    // The timeout alone has passed by then.
    request.resume().on('end', () => startDeadline(250, () => response.end('done')))
  }
  assert.is(await sendTo(listener, { body: 'x'.repeat(10_000_000) }), 'done')
  assert.match(await sendTo(listener, { body: 'x' }), 'did not begin within 0.05 seconds')
})

test.run()
