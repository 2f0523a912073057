import { EventEmitter } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LargeResponses } from '../../daemon/http/large-responses.ts'
import { ConversationFixture } from '../conversations/conversation-fixture.ts'
import { withTimeoutFactor } from '../harness/clocks/timeout-factor.ts'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { ADMIN_TOKEN } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('large responses')
/** More than the kernel accepts for a client that does not read. */
const SIZE = 24 * 1024 * 1024
let fixture: ConversationFixture
let path: string

test.before(
  reportFailure(async () => {
    fixture = await ConversationFixture.open()
    const agent = await fixture.resources.agent()
    const { id } = await fixture.resources.conversation({ agent_id: agent.id })
    path = `/api/conversations/${id}`
    await fixture.service.database.write((transaction) =>
      transaction.run("INSERT INTO messages VALUES ('msg_1', ?, 'user', ?, '{}', '2026-01-01T00:00:00.000Z')", [
        id,
        'ü😀x'.repeat(SIZE / 7),
      ]),
    )
  }),
)
test.after(reportFailure(() => fixture.close()))

/** Sends a request and does not read the response. */
function requestWithoutReading(token = ADMIN_TOKEN): Socket {
  const { hostname, port, host } = new URL(fixture.url)
  const socket = connect(Number(port), hostname)
  socket.pause()
  socket.on('error', () => {}) // the server closes the connection
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\nauthorization: Bearer ${token}\r\n\r\n`)
  return socket
}

const get = (token: string) => fetch(`${fixture.url}${path}`, { headers: { authorization: `Bearer ${token}` } })

test('a large response arrives complete, with its length', async () => {
  const response = await get(ADMIN_TOKEN)
  const text = await response.text()
  assert.is(Number(response.headers.get('content-length')), Buffer.byteLength(text))
  assert.is(JSON.parse(text).data.messages[0].content.length, 'ü😀x'.repeat(SIZE / 7).length)
})

test('clients that do not read are refused further responses and are disconnected', async () => {
  const { token } = await expectData(fixture.service.post('/tokens', { name: 'greedy', role: 'editor' }), 201)
  const sockets: Socket[] = []
  const refused = await waitFor(
    async () => {
      sockets.push(requestWithoutReading(token))
      const response = await fetch(`${fixture.url}/api/agents`, { headers: { authorization: `Bearer ${token}` } })
      return response.status === 429 && response
    },
    { intervalMs: 200, description: 'a refused request' },
  )
  assert.ok(sockets.length <= 10, `${sockets.length} unread responses were accepted`)
  assert.match(((await refused.json()) as { error: string }).error, /large responses of this token have not been read/)
  assert.is((await get(ADMIN_TOKEN)).status, 200, 'another token')
  const closed = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  await withTimeoutFactor(0.2, () =>
    waitFor(async () => (await get(token)).status === 200, { intervalMs: 500, description: 'the token to be served' }),
  )
  for (const socket of sockets) socket.resume()
  await closed
  assert.ok(
    sockets.some(({ bytesRead }) => bytesRead < SIZE),
    'the connections were closed before everything was sent',
  )
})

/** Sends 48 MB responses of one token over a connection. */
function createSender(isClosed: boolean) {
  const responses = new LargeResponses()
  const raw = Object.assign(new EventEmitter(), { destroyed: isClosed })
  const reply = { raw, header: () => reply } as unknown as FastifyReply
  const send = (method: string) => responses.send({ method, caller: { tokenId: 'tok_1' } } as FastifyRequest, reply, 'x'.repeat(2 * SIZE))
  return { send, close: () => raw.emit('close') }
}

test('responses to clients that have left do not count as unread', () => {
  const { send, close } = createSender(true)
  try {
    for (let count = 0; count < 3; count++) assert.type(send('GET'), 'string')
  } finally {
    close()
  }
})

test('the response to a change is sent in any case', () => {
  const { send, close } = createSender(false)
  try {
    send('GET')
    send('GET')
    assert.throws(() => send('GET'), /have not been read/)
    assert.instance(send('POST'), Readable)
  } finally {
    close()
  }
})

test.run()
