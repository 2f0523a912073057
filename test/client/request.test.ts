/** Requests on connections that the service has closed. */
import { Agent, createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Connection, sendOnce } from '../../src/client/request.ts'

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

test.run()
