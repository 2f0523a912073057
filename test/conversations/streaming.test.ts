import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import {
  disconnectAfter,
  hang,
  respondWithError,
  type ScriptedProvider,
  stallAfter,
  streamReply,
  streamText,
} from '../harness/scripted-provider.ts'
import { waitFor } from '../harness/wait-for.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('streaming')
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

const waitForFinishedReply = (id: string) =>
  waitFor(async () => {
    const last = (await fixture.listMessages(id)).at(-1)
    return last?.finish_reason !== undefined && last
  })

test('a streamed reply matches the stored one, with increasing ids and one end event', async () => {
  provider.script = [streamReply({ text: ['Hello', ' there', ' you'] }, 5)]
  const id = await fixture.startConversation(provider)
  const stream = await fixture.stream(id, 'Hi')
  assert.equal(
    [stream.status, stream.headers['content-type'], stream.headers['cache-control']],
    [200, 'text/event-stream; charset=utf-8', 'no-store'],
  )
  assert.match(String(stream.headers['x-request-id']), /^req_/)
  const events = await stream.readAll()
  assert.equal(stream.eventNames, ['message_start', 'message_delta', 'message_end'])
  assert.is(stream.replyText, 'Hello there you')
  const ids = events.map((event) => Number(event.id))
  assert.ok(
    ids.every((value, at) => at === 0 || value > (ids[at - 1] as number)),
    String(ids),
  )
  const [user, reply] = await fixture.listMessages(id)
  const [start, end] = [events[0], events.at(-1)]
  assert.ok(start?.event === 'message_start' && end?.event === 'message_end')
  assert.equal([start.data.conversation_id, start.data.message_id, start.data.user_message_id], [id, reply?.id, user?.id])
  assert.equal(end.data.message, reply)
})

test('a failure before the first text is a status code, and is stored', async () => {
  provider.script = [respondWithError(401)]
  const id = await fixture.startConversation(provider)
  const stream = await fixture.stream(id, 'Hi')
  const body = await stream.readBody()
  assert.equal([stream.status, body.code, body.success], [502, 'PROVIDER_ERROR', false])
  const [user, reply] = await fixture.listMessages(id)
  assert.equal([user?.content, reply?.content, reply?.finish_reason, reply?.error_code], ['Hi', '', 'error', 'PROVIDER_ERROR'])
})

test('a failure after the first text is the last event, and the text is stored', async () => {
  provider.script = [disconnectAfter('this stops', ' in the mid')]
  const id = await fixture.startConversation(provider)
  const stream = await fixture.stream(id, 'Hi')
  await stream.readAll()
  assert.equal(stream.eventNames, ['message_start', 'message_delta', 'error'])
  const last = stream.events.at(-1)
  assert.ok(last?.event === 'error')
  const [, reply] = await fixture.listMessages(id)
  assert.equal([last.data.code, last.data.message_id], ['PROVIDER_ERROR', reply?.id])
  assert.equal([reply?.content, reply?.finish_reason, reply?.error], ['this stops in the mid', 'error', last.data.error])
})

test('a client that disconnects aborts the model call, and the text is stored as aborted', async () => {
  provider.script = [stallAfter('as far', ' as this')]
  const id = await fixture.startConversation(provider)
  const stream = await fixture.stream(id, 'Hi')
  await stream.readUntil('message_delta')
  await waitFor(async () => (await fixture.listMessages(id))[1]?.content === 'as far as this')
  stream.disconnect()
  await provider.received.at(-1)?.closed
  const reply = await waitForFinishedReply(id)
  assert.equal([reply.content, reply.finish_reason], ['as far as this', 'aborted'])
})

test('disconnecting before the first text or during a non-streaming request aborts the model call', async () => {
  provider.script = [hang]
  const id = await fixture.startConversation(provider)
  for (const more of [{}, { stream: false }]) {
    const arrival = provider.nextRequest()
    const controller = new AbortController()
    const sent = fetch(`${fixture.url}/api/conversations/${id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await fixture.service.token('admin')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'Hi', stream: true, ...more }),
      signal: controller.signal,
    })
    const { closed } = await Promise.race([arrival, sent.then(({ status }) => Promise.reject(new Error(`answered with ${status}`)))])
    controller.abort()
    await sent.then(
      () => assert.unreachable(),
      () => undefined,
    )
    await closed
    assert.equal([(await waitForFinishedReply(id)).finish_reason, (await waitForFinishedReply(id)).content], ['aborted', ''])
  }
})

test('the next message works after each kind of failure', async () => {
  const id = await fixture.startConversation(provider)
  for (const step of [respondWithError(500), disconnectAfter('half'), respondWithError(404)]) {
    provider.script = [step, streamText('fine')]
    await fixture.send(id, 'Hi')
    provider.script = [streamText('fine')]
    assert.is((await fixture.sendAndWait(id, 'Again')).content, 'fine')
  }
  const asked = provider.received.at(-1)?.body.messages
  assert.ok(asked.every(({ content }: { content: string }) => content !== ''))
})

test('a second message is rejected, or queued with wait: true', async () => {
  let answer = () => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  provider.script = [
    async (...given) => {
      await held
      await streamText('first')(...given)
    },
    streamText('second'),
  ]
  const id = await fixture.startConversation(provider)
  const arrival = provider.nextRequest()
  const first = fixture.send(id, 'One')
  await arrival
  await expectError(fixture.send(id, 'Two'), 'CONFLICT', { hint: /wait: true/ })
  await expectError(fixture.send(id, 'Two', { stream: true }), 'CONFLICT')
  const second = fixture.send(id, 'Two', { wait: true })
  answer()
  assert.equal([(await expectData(first)).content, (await expectData(second)).content], ['first', 'second'])
  assert.equal(
    (await fixture.listMessages(id)).map(({ content }) => content),
    ['One', 'first', 'Two', 'second'],
  )
})

test.run()
