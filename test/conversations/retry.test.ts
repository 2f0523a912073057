import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ProviderTimeouts } from '../../daemon/models/providers/http-exchange.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import {
  disconnectAfter,
  endEarlyAfter,
  respondWithError,
  type ScriptedProvider,
  type Step,
  stallAfter,
  streamInTwoParts,
  streamText,
} from '../harness/scripted-provider.ts'
import { ADMIN_TOKEN, type Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { ConversationFixture, type ReplyStream } from './conversation-fixture.ts'

const test = suite('retry')
const TIMEOUTS = { retryDelayMs: 5 } satisfies Partial<ProviderTimeouts>
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider({ providerTimes: TIMEOUTS })
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

const post = (id: string, body: object, key?: string): Promise<ReplyStream> =>
  fixture.open(`/api/conversations/${id}/messages`, body, key === undefined ? {} : { 'idempotency-key': key })

interface Answer {
  code: string | undefined
  text: string | undefined
  replayed: unknown
}

/** Sends a message and reads the reply or the error, streamed or not. */
async function answer(id: string, body: object, key?: string): Promise<Answer> {
  const response = await post(id, body, key)
  const replayed = response.headers['idempotent-replayed']
  if (String(response.headers['content-type']).startsWith('text/event-stream')) {
    const last = (await response.readAll()).at(-1) as Json
    return { code: last.data.code, text: last.data.message?.content, replayed }
  }
  const { code, data } = await response.readBody()
  return { code, text: data?.content, replayed }
}

/** The user messages that the model read last. */
const listQuestions = (): string[] =>
  ((provider.received.at(-1)?.body.messages ?? []) as Json[]).filter(({ role }) => role === 'user').map(({ content }) => content)
const waitForEnd = (id: string) => waitFor(async () => (await fixture.listMessages(id)).at(-1)?.finish_reason)

const FAILURES: [string, Step][] = [
  ['a 400 of the provider', respondWithError(400)],
  ['a 401 of the provider', respondWithError(401)],
  ['a 500 of the provider', respondWithError(500)],
  ['a broken stream', disconnectAfter('so', ' far')],
  ['a stream without an end', endEarlyAfter('so', ' far')],
]

for (const [failure, step] of FAILURES)
  for (const stream of [false, true])
    test(`after ${failure}, the same Idempotency-Key generates a new reply (${stream ? 'streamed' : 'not streamed'})`, async () => {
      const id = await fixture.startConversation(provider)
      const [body, key] = [{ message: 'Hi', stream }, `${failure.replaceAll(' ', '-')}-${stream}`]
      provider.script = [step]
      for (const _ of [1, 2]) {
        const before = provider.received.length
        const failed = await answer(id, body, key)
        assert.equal([failed.code, failed.replayed], ['PROVIDER_ERROR', undefined])
        assert.ok(provider.received.length > before, 'the provider is called again')
      }
      provider.script = [streamText('Now it ', 'works.')]
      assert.equal(await answer(id, body, key), { code: undefined, text: 'Now it works.', replayed: undefined })
      assert.equal(listQuestions(), ['Hi'])
      const calls = provider.received.length
      assert.equal(await answer(id, body, key), { code: undefined, text: 'Now it works.', replayed: 'true' })
      assert.is(provider.received.length, calls)
      const messages = await fixture.listMessages(id)
      assert.equal(
        messages.map(({ role, content, finish_reason }) => [role, content, finish_reason]),
        [
          ['user', 'Hi', undefined],
          ['assistant', 'Now it works.', 'stop'],
        ],
      )
    })

for (const stream of [false, true])
  test(`after the client disconnected, the same key returns a complete reply (${stream ? 'streamed' : 'not streamed'})`, async () => {
    const id = await fixture.startConversation(provider)
    // The second request arrives while the reply is being aborted, or afterwards.
    for (const isStored of [false, true]) {
      const [body, key] = [{ message: 'Hi', stream }, `disconnected-${stream}-${isStored}`]
      provider.script = [stallAfter('a frag'), streamText('A complete reply.')]
      const disconnect = new AbortController()
      const lost = fetch(`${fixture.url}/api/conversations/${id}/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
        signal: disconnect.signal,
      }).catch(() => undefined)
      await waitFor(async () => (await fixture.listMessages(id)).at(-1)?.content === 'a frag')
      disconnect.abort()
      await lost
      if (isStored) assert.is(await waitForEnd(id), 'aborted')
      assert.equal(await answer(id, body, key), { code: undefined, text: 'A complete reply.', replayed: undefined })
      const last = (await fixture.listMessages(id)).at(-1)
      assert.equal([last?.content, last?.finish_reason], ['A complete reply.', 'stop'])
    }
    assert.is((await fixture.listMessages(id)).length, 4)
  })

test('after the client disconnected from a reply that another client follows, the same key returns that reply', async () => {
  const id = await fixture.startConversation(provider)
  const { step, resume } = streamInTwoParts('one', ' two')
  provider.script = [step]
  const calls = provider.received.length
  const first = await post(id, { message: 'Hi', stream: true }, 'followed')
  const { data } = await first.readUntil('message_start')
  const follower = await fixture.follow(id, data.message_id)
  await follower.readUntil('message_delta')
  first.disconnect()
  const again = await post(id, { message: 'Hi', stream: true }, 'followed')
  resume()
  await Promise.all([again.readAll(), follower.readAll()])
  assert.equal([again.replyText, again.headers['idempotent-replayed'], provider.received.length], ['one two', 'true', calls + 1])
})

test('after a restart during the reply, the same key generates a new reply', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [stallAfter('half')]
  const first = await post(id, { message: 'Hi', stream: true }, 'restart')
  await first.readUntil('message_delta')
  const home = await fixture.service.stop()
  fixture = await ConversationFixture.open({ home, providerTimes: TIMEOUTS })
  assert.is((await fixture.listMessages(id)).at(-1)?.finish_reason, 'interrupted')
  provider.script = [streamText('whole')]
  assert.equal(await answer(id, { message: 'Hi', stream: true }, 'restart'), { code: undefined, text: 'whole', replayed: undefined })
  assert.equal(
    (await fixture.listMessages(id)).map(({ content }) => content),
    ['Hi', 'whole'],
  )
})

test('50 requests with the key of a failed message make one call', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [respondWithError(401)]
  await answer(id, { message: 'Hi' }, 'fifty')
  const calls = provider.received.length
  provider.script = [streamText('once')]
  const answers = await Promise.all(Array.from({ length: 50 }, () => answer(id, { message: 'Hi' }, 'fifty')))
  assert.equal([...new Set(answers.map(({ text }) => text))], ['once'])
  assert.is(provider.received.length, calls + 1)
  assert.is((await fixture.listMessages(id)).length, 2)
})

for (const body of [{ retry: true }, { message: 'Hi', retry: true }])
  test(`${JSON.stringify(body)} answers a failed message again, and it is counted once`, async () => {
    const agent = await fixture.createAgent(provider)
    const id = await fixture.createConversation(agent)
    const getReports = async () => ({
      analytics: await expectData(fixture.service.get(`/analytics/conversations?agent_id=${agent.id}`)),
      usage: await expectData(fixture.service.get(`/usage/stats?entity_type=agent&entity_id=${agent.id}`)),
    })
    provider.script = [disconnectAfter('so', ' far')]
    await expectError(fixture.send(id, 'Hi'), 'PROVIDER_ERROR')
    const [question, failed] = await fixture.listMessages(id)
    const before = await getReports()
    assert.equal([before.analytics.total_messages, before.analytics.total_tokens > 0], [2, true])
    provider.script = [streamText('Now it works.')]
    const reply = await expectData(fixture.service.post(`/conversations/${id}/messages`, body))
    assert.equal([reply.content, reply.finish_reason], ['Now it works.', 'stop'])
    assert.equal(listQuestions(), ['Hi'])
    assert.equal(await fixture.listMessages(id), [question, reply])
    const { analytics, usage } = await getReports()
    assert.equal([analytics.total_messages, analytics.total_conversations, analytics.active_users], [2, 1, 1])
    assert.equal([analytics.total_tokens, analytics.total_cost], [usage.total_tokens, usage.total_cost])
    assert.is(reply.usage.total_tokens, usage.total_tokens, 'the reply includes the tokens of the failed attempt')
    assert.is(reply.context_tokens, usage.total_tokens - before.usage.total_tokens, 'the context is that of the last call')
    assert.ok(usage.total_tokens > before.usage.total_tokens && failed?.id !== reply.id)
  })

test('a retry returns a complete reply without another call', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [streamText('Done.')]
  const reply = await fixture.sendAndWait(id, 'Hi')
  const calls = provider.received.length
  for (const body of [{ retry: true }, { message: 'Hi', retry: true }])
    assert.equal(await expectData(fixture.service.post(`/conversations/${id}/messages`, body)), reply)
  assert.is((await answer(id, { retry: true, stream: true })).text, 'Done.')
  assert.is((await answer(id, { retry: true }, 'complete')).text, 'Done.')
  assert.equal(await answer(id, { retry: true }, 'complete'), { code: undefined, text: 'Done.', replayed: 'true' })
  assert.equal([provider.received.length, (await fixture.listMessages(id)).length], [calls, 2])
})

test('a complete reply is replayed although the model of the request was deleted since', async () => {
  const id = await fixture.startConversation(provider)
  const { id: model_id } = await fixture.resources.model({ ...provider.model, name: 'chosen' })
  provider.script = [streamText('Done.')]
  assert.is((await answer(id, { message: 'Hi', model_id }, 'chosen')).text, 'Done.')
  await expectData(fixture.service.delete(`/models/${model_id}`))
  assert.equal(await answer(id, { message: 'Hi', model_id }, 'chosen'), { code: undefined, text: 'Done.', replayed: 'true' })
})

test('a retry of another text sends a new message', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [respondWithError(401)]
  await expectError(fixture.send(id, 'Hi'), 'PROVIDER_ERROR')
  provider.script = [streamText('Hello.')]
  await expectData(fixture.send(id, 'Another', { retry: true }))
  assert.equal([listQuestions(), (await fixture.listMessages(id)).length], [['Hi', 'Another'], 4])
  const empty = await fixture.startConversation(provider)
  await expectData(fixture.send(empty, 'First', { retry: true }))
  assert.is((await fixture.listMessages(empty)).length, 2)
})

test('without a message there is nothing to send or to retry', async () => {
  const id = await fixture.startConversation(provider)
  await expectError(fixture.service.post(`/conversations/${id}/messages`, { retry: true }), 'CONFLICT', { error: /no message to retry/ })
  for (const body of [{}, { retry: false }, { stream: true }])
    await expectError(fixture.service.post(`/conversations/${id}/messages`, body), 'VALIDATION_ERROR', { field: 'message' })
})

test('two clients that retry at the same time get the same reply', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [respondWithError(401)]
  await expectError(fixture.send(id, 'Hi'), 'PROVIDER_ERROR')
  const calls = provider.received.length
  provider.script = [streamText('Together.')]
  const replies = await Promise.all(
    [1, 2, 3].map(() => expectData(fixture.service.post(`/conversations/${id}/messages`, { retry: true, wait: true }))),
  )
  assert.equal([...new Set(replies.map((reply) => reply.content))], ['Together.'])
  assert.equal([provider.received.length, (await fixture.listMessages(id)).length], [calls + 1, 2])
})

test('a failed message that is sent again without retry reaches the model once', async () => {
  const id = await fixture.startConversation(provider)
  for (const step of [respondWithError(401), disconnectAfter('half')]) {
    provider.script = [step]
    await expectError(fixture.send(id, 'Hi'), 'PROVIDER_ERROR')
  }
  provider.script = [streamText('Hello.')]
  await fixture.sendAndWait(id, 'Hi')
  assert.equal(listQuestions(), ['Hi'])
  await fixture.sendAndWait(id, 'Hi')
  assert.equal(listQuestions(), ['Hi', 'Hi'], 'a message with a complete reply may be repeated')
})

test('the reply to an earlier failed message is stored next to it and does not read later messages', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [streamText('One.')]
  await fixture.sendAndWait(id, 'First')
  provider.script = [respondWithError(401)]
  await answer(id, { message: 'Second' }, 'earlier')
  provider.script = [streamText('Three.')]
  await fixture.sendAndWait(id, 'Third')
  provider.script = [streamText('Two.')]
  assert.is((await answer(id, { message: 'Second' }, 'earlier')).text, 'Two.')
  assert.equal(listQuestions(), ['First', 'Second'])
  assert.equal(
    (await fixture.listMessages(id)).map(({ content }) => content),
    ['First', 'One.', 'Second', 'Two.', 'Third', 'Three.'],
  )
})

test('replace answers the last message again although its reply is complete, and changes the message if one is given', async () => {
  const id = await fixture.startConversation(provider)
  const list = async () => (await fixture.listMessages(id)).map(({ content }) => content)
  await expectError(fixture.service.post(`/conversations/${id}/messages`, { replace: true }), 'CONFLICT')
  await expectError(fixture.send(id, 'Nothing to replace', { replace: true }), 'CONFLICT')
  provider.script = [streamText('one'), streamText('two'), streamText('three'), streamText('four')]
  await fixture.sendAndWait(id, 'First')
  await fixture.sendAndWait(id, 'Second')
  assert.is((await answer(id, { replace: true })).text, 'three')
  assert.equal(await list(), ['First', 'one', 'Second', 'three'])
  const changed = await answer(id, { message: 'Changed', replace: true }, 'replaced')
  assert.is(changed.text, 'four')
  assert.equal(await list(), ['First', 'one', 'Changed', 'four'])
  assert.equal(
    provider.received
      .at(-1)
      ?.body.messages.slice(1)
      .map(({ content }: Json) => content),
    ['First', 'one', 'Changed'],
  )
  const again = await answer(id, { message: 'Changed', replace: true }, 'replaced')
  assert.equal([again.text, again.replayed, await list()], ['four', 'true', ['First', 'one', 'Changed', 'four']], 'once per key')
})

test.run()
