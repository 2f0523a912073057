import { connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConversationFixture } from '../conversations/conversation-fixture.ts'
import { ShiftedClock } from '../harness/clocks/shifted-clock.ts'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { ScriptedProvider, stallAfter } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('streams of revoked tokens')
const clock = new ShiftedClock()
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    fixture = await ConversationFixture.open({ clock })
    provider = await ScriptedProvider.start('openai', stallAfter('Hello'))
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

const createToken = (fields: object = {}): Promise<Json> =>
  expectData(fixture.service.post('/tokens', { name: 'temporary', role: 'editor', ...fields }), 201)

async function openStream({ token }: Json) {
  const id = await fixture.startConversation(provider)
  const stream = await fixture.stream(id, 'Hi', {}, { authorization: `Bearer ${token}` })
  await stream.readUntil('message_delta')
  return { id, stream }
}

/** Waits for the end of a stream. The model never ends its reply. */
async function expectRevoked(stream: Awaited<ReturnType<typeof openStream>>['stream']): Promise<void> {
  const events = await stream.readAll()
  assert.equal([events.at(-1)?.event, events.at(-1)?.data], ['error', { error: 'The token is no longer valid.', code: 'UNAUTHENTICATED' }])
}

test('deleting a token ends its streams and their model calls, and no others', async () => {
  const [revoked, other] = [await createToken(), await createToken()]
  const { id, stream } = await openStream(revoked)
  const { stream: kept } = await openStream(other)
  await expectData(fixture.service.delete(`/tokens/${revoked.id}`))
  await expectRevoked(stream)
  const reply = await waitFor(async () => {
    const last = (await fixture.listMessages(id)).at(-1)
    return last?.finish_reason !== undefined && last
  })
  assert.equal([reply.finish_reason, reply.content], ['aborted', 'Hello'])
  assert.is(kept.raw.readableEnded, false)
  kept.raw.destroy()
})

test('the streams of a token end when it expires', async () => {
  const expiring = await createToken({ expires_at: new Date(clock.now() + 3_600_000).toISOString() })
  const { stream } = await openStream(expiring)
  clock.advance(3_600_000)
  await expectRevoked(stream)
})

test('a client that does not read cannot keep its model call', async () => {
  const { id, token } = await createToken()
  const conversation = await fixture.startConversation(provider)
  const { hostname, port, host } = new URL(fixture.url)
  const socket = connect(Number(port), hostname)
  const body = JSON.stringify({ message: 'Hi', stream: true })
  const head = `POST /api/conversations/${conversation}/messages HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}`
  const arrival = provider.nextRequest()
  socket.write(`${head}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  const call = await arrival
  await expectData(fixture.service.delete(`/tokens/${id}`))
  await call.closed
  socket.destroy()
})

test.run()
