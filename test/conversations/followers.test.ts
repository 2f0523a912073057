import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { disconnectAfter, type ScriptedProvider, stallAfter, streamInTwoParts, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('followers')
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

const startReply = async (id: string, message = 'Hi') => {
  const stream = await fixture.stream(id, message)
  const { data } = await stream.readUntil('message_start')
  return { stream, messageId: data.message_id }
}
const waitForStoredReply = (id: string) =>
  waitFor(async () => {
    const last = (await fixture.listMessages(id)).at(-1)
    return last?.finish_reason !== undefined && last
  })

test('several clients follow one reply, from its start or from their last event', async () => {
  const { step, resume } = streamInTwoParts('one', ' two')
  provider.script = [step]
  const id = await fixture.startConversation(provider)
  const { stream, messageId } = await startReply(id)
  const delta = await stream.readUntil('message_delta')
  const second = await fixture.follow(id, messageId)
  await second.readUntil('message_delta')
  const third = await fixture.follow(id, messageId, { 'last-event-id': String(delta.id) })
  const countReplies = async () => (await expectData(fixture.service.get('/status'))).queues.replies
  assert.is(await countReplies(), 1)
  resume()
  const [a, b, c] = await Promise.all([stream.readAll(), second.readAll(), third.readAll()])
  await waitFor(async () => (await countReplies()) === 0)
  assert.equal(b, a)
  assert.equal(c, a.slice(2))
  assert.equal([second.replyText, third.replyText], ['one two', ' two'])
})

test('a reply continues until its last follower leaves', async () => {
  provider.script = [stallAfter('so far')]
  const id = await fixture.startConversation(provider)
  const { stream, messageId } = await startReply(id)
  await stream.readUntil('message_delta')
  const second = await fixture.follow(id, messageId)
  await second.readUntil('message_delta')
  const { closed } = provider.received.at(-1) as { closed: Promise<void> }
  let gone = false
  void closed.then(() => {
    gone = true
  })
  stream.disconnect()
  const third = await fixture.follow(id, messageId)
  await third.readUntil('message_delta')
  third.disconnect()
  await expectData(fixture.service.get('/status'))
  assert.not.ok(gone)
  second.disconnect()
  await closed
  assert.is((await waitForStoredReply(id)).finish_reason, 'aborted')
})

test('a finished reply is replayed event by event, and after a restart as one delta', async () => {
  provider.script = [streamText('one', ' two')]
  const id = await fixture.startConversation(provider)
  const { stream, messageId } = await startReply(id)
  const events = await stream.readAll()
  assert.equal(await (await fixture.follow(id, messageId)).readAll(), events)
  assert.equal(await (await fixture.follow(id, messageId, { 'last-event-id': '2' })).readAll(), events.slice(2))
  assert.equal(await (await fixture.follow(id, messageId, { 'last-event-id': 'nonsense' })).readAll(), events)
  fixture = await fixture.restart()
  const again = await fixture.follow(id, messageId)
  const [start, delta, end] = (await again.readAll()) as Json[]
  assert.equal([start, delta.data, end.data], [events[0], { text: 'one two' }, events.at(-1)?.data])
  const rest = await fixture.follow(id, messageId, { 'last-event-id': '3' })
  const [only, ...more] = (await rest.readAll()) as Json[]
  assert.equal([only.event, only.id, only.data, more], ['message_end', '4', events.at(-1)?.data, []])
})

test('a failed reply is replayed with its error', async () => {
  provider.script = [disconnectAfter('half')]
  const id = await fixture.startConversation(provider)
  const { stream, messageId } = await startReply(id)
  const events = await stream.readAll()
  assert.is(events.at(-1)?.event, 'error')
  fixture = await fixture.restart()
  const [, delta, error, ...more] = (await (await fixture.follow(id, messageId)).readAll()) as Json[]
  const last = events.at(-1) as Json
  assert.equal([delta.data, error.event, more], [{ text: 'half' }, 'error', []])
  for (const field of ['error', 'code', 'message_id']) assert.is(error.data[field], last.data[field])
})

test('only assistant messages have events', async () => {
  provider.script = [streamText('x')]
  const id = await fixture.startConversation(provider)
  await fixture.sendAndWait(id, 'Hi')
  const [user] = await fixture.listMessages(id)
  for (const message of [user?.id, 'msg_none'])
    await expectError(fixture.service.get(`/conversations/${id}/messages/${message}/events`), 'NOT_FOUND')
  await expectError(fixture.service.get(`/conversations/conv_none/messages/${user?.id}/events`), 'NOT_FOUND')
})

test('a repeated idempotent request joins the reply without another model call', async () => {
  const id = await fixture.startConversation(provider)
  for (const stream of [true, false]) {
    const { step, resume } = streamInTwoParts('one', ' two')
    provider.script = [step]
    const before = provider.received.length
    const key = { 'idempotency-key': `join-${stream}` }
    const arrival = provider.nextRequest()
    const send = () => fixture.open(`/api/conversations/${id}/messages`, { message: 'Once', stream }, key)
    const first = send()
    await arrival
    const second = send()
    await waitFor(async () => (await fixture.listMessages(id)).at(-1)?.content === 'one')
    resume()
    const answers = await Promise.all([first, second])
    const replies = await Promise.all(
      answers.map(async (answer) => (stream ? ((await answer.readAll()).at(-1) as Json).data.message : (await answer.readBody()).data)),
    )
    assert.equal(replies[0], replies[1])
    assert.equal(
      answers.map(({ headers }) => headers['idempotent-replayed']),
      [undefined, 'true'],
    )
    assert.is(provider.received.length, before + 1)
    const again = await send()
    assert.equal(stream ? ((await again.readAll()).at(-1) as Json).data.message : (await again.readBody()).data, replies[0])
  }
  assert.is((await fixture.listMessages(id)).length, 4)
  fixture = await fixture.restart()
  const after = await fixture.open(
    `/api/conversations/${id}/messages`,
    { message: 'Once', stream: true },
    { 'idempotency-key': 'join-true' },
  )
  await after.readAll()
  assert.equal([after.eventNames, after.replyText], [['message_start', 'message_delta', 'message_end'], 'one two'])
  await expectError(
    fixture.service.post(
      `/conversations/${id}/messages`,
      { message: 'Other', stream: true },
      { headers: { 'idempotency-key': 'join-true' } },
    ),
    'CONFLICT',
  )
})

test('deleting a conversation aborts its active reply', async () => {
  provider.script = [stallAfter('so far')]
  const id = await fixture.startConversation(provider)
  const { stream } = await startReply(id)
  await stream.readUntil('message_delta')
  await expectData(fixture.service.delete(`/conversations/${id}`))
  const { data } = await stream.readUntil('message_end')
  assert.equal([data.message.finish_reason, data.message.content], ['aborted', 'so far'])
  await provider.received.at(-1)?.closed
  assert.equal(await fixture.service.database.all('SELECT id FROM messages WHERE conversation_id = ?', [id]), [])
  assert.equal(await fixture.service.database.all('SELECT * FROM replies_under_way'), [])
})

test('a shutdown ends all replies with UNAVAILABLE and keeps their text', async () => {
  provider.script = [stallAfter('so far')]
  const [one, two] = [await fixture.startConversation(provider), await fixture.startConversation(provider)]
  const { stream, messageId } = await startReply(one)
  await stream.readUntil('message_delta')
  const whole = fixture.open(`/api/conversations/${two}/messages`, { message: 'Hi' })
  await waitFor(async () => (await fixture.listMessages(two)).at(-1)?.content === 'so far')
  const inLine = fixture.open(`/api/conversations/${one}/messages`, { message: 'And?', wait: true })
  await (await fixture.open('/api/status', undefined)).readBody() // the queued message was received before this
  const stopped = fixture.service.stop()
  const { data } = await stream.readUntil('error')
  assert.equal([data.code, data.message_id, await stream.next()], ['UNAVAILABLE', messageId, undefined])
  assert.equal([(await whole).status, (await inLine).status], [503, 503])
  fixture = await ConversationFixture.open({ home: await stopped })
  for (const id of [one, two]) {
    const messages = await fixture.listMessages(id)
    assert.equal([messages.length, messages[1]?.content, messages[1]?.finish_reason], [2, 'so far', 'interrupted'])
  }
})

test.run()
