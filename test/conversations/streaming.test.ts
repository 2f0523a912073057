import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import {
  disconnectAfter,
  hang,
  respondWithError,
  ScriptedProvider,
  stallAfter,
  streamReply,
  streamText,
} from '../harness/scripted-provider.ts'
import { waitFor } from '../knowledge/knowledge-fixture.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('streaming')
let parlour: ConversationFixture
let provider: ScriptedProvider

test.before(
  aloud(async () => {
    parlour = await ConversationFixture.open()
    provider = await ScriptedProvider.start('openai', streamText('x'))
  }),
)
test.after(aloud(() => Promise.all([parlour.close(), provider.close()])))

const finished = (id: string) =>
  waitFor(async () => {
    const last = (await parlour.listMessages(id)).at(-1)
    return last?.finish_reason !== undefined && last
  })

test('a streamed reply is the stored one in pieces, with ids that grow and one end', async () => {
  provider.script = [streamReply({ text: ['Hello', ' there', ' you'] }, 5)]
  const id = await parlour.startConversation(provider)
  const stream = await parlour.stream(id, 'Hi')
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
  const [user, reply] = await parlour.listMessages(id)
  const [start, end] = [events[0], events.at(-1)]
  assert.ok(start?.event === 'message_start' && end?.event === 'message_end')
  assert.equal([start.data.conversation_id, start.data.message_id, start.data.user_message_id], [id, reply?.id, user?.id])
  assert.equal(end.data.message, reply)
})

test('a failure before the first word is a status, and is stored', async () => {
  provider.script = [respondWithError(401)]
  const id = await parlour.startConversation(provider)
  const stream = await parlour.stream(id, 'Hi')
  const body = await stream.readBody()
  assert.equal([stream.status, body.code, body.success], [502, 'PROVIDER_ERROR', false])
  const [user, reply] = await parlour.listMessages(id)
  assert.equal([user?.content, reply?.content, reply?.finish_reason, reply?.error_code], ['Hi', '', 'error', 'PROVIDER_ERROR'])
})

test('a failure after it is an event, the only last one, and what came is stored', async () => {
  provider.script = [disconnectAfter('this stops', ' in the mid')]
  const id = await parlour.startConversation(provider)
  const stream = await parlour.stream(id, 'Hi')
  await stream.readAll()
  assert.equal(stream.eventNames, ['message_start', 'message_delta', 'error'])
  const last = stream.events.at(-1)
  assert.ok(last?.event === 'error')
  const [, reply] = await parlour.listMessages(id)
  assert.equal([last.data.code, last.data.message_id], ['PROVIDER_ERROR', reply?.id])
  assert.equal([reply?.content, reply?.finish_reason, reply?.error], ['this stops in the mid', 'error', last.data.error])
})

test('a reader that leaves ends the call of the model at once, and what came is stored as aborted', async () => {
  provider.script = [stallAfter('as far', ' as this')]
  const id = await parlour.startConversation(provider)
  const stream = await parlour.stream(id, 'Hi')
  await stream.readUntil('message_delta')
  await waitFor(async () => (await parlour.listMessages(id))[1]?.content === 'as far as this')
  stream.disconnect()
  await provider.received.at(-1)?.closed
  const reply = await finished(id)
  assert.equal([reply.content, reply.finish_reason], ['as far as this', 'aborted'])
})

test('so does one that leaves before the first word, and one that waits for the whole reply', async () => {
  provider.script = [hang]
  const id = await parlour.startConversation(provider)
  for (const more of [{}, { stream: false }]) {
    const arrival = provider.nextRequest()
    const controller = new AbortController()
    const sent = fetch(`${parlour.url}/api/conversations/${id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await parlour.service.token('admin')}`, 'content-type': 'application/json' },
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
    assert.equal([(await finished(id)).finish_reason, (await finished(id)).content], ['aborted', ''])
  }
})

test('the next message works after each of these', async () => {
  const id = await parlour.startConversation(provider)
  for (const step of [respondWithError(500), disconnectAfter('half'), respondWithError(404)]) {
    provider.script = [step, streamText('fine')]
    await parlour.send(id, 'Hi')
    provider.script = [streamText('fine')]
    assert.is((await parlour.sendAndWait(id, 'Again')).content, 'fine')
  }
  const asked = provider.received.at(-1)?.body.messages
  assert.ok(asked.every(({ content }: { content: string }) => content !== ''))
})

test('one message at a time: the second is refused, or waits if it asks to', async () => {
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
  const id = await parlour.startConversation(provider)
  const arrival = provider.nextRequest()
  const first = parlour.send(id, 'One')
  await arrival
  await expectError(parlour.send(id, 'Two'), 'CONFLICT', { hint: /wait: true/ })
  await expectError(parlour.send(id, 'Two', { stream: true }), 'CONFLICT')
  const second = parlour.send(id, 'Two', { wait: true })
  answer()
  assert.equal([(await expectData(first)).content, (await expectData(second)).content], ['first', 'second'])
  assert.equal(
    (await parlour.listMessages(id)).map(({ content }) => content),
    ['One', 'first', 'Two', 'second'],
  )
})

test.run()
