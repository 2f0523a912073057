import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConversationFixture } from '../conversations/conversation-fixture.ts'
import { expectData } from '../harness/expect.ts'
import { disconnectAfter, respondWithError, ScriptedProvider, streamReply, streamText } from '../harness/scripted-provider.ts'

const test = suite<{ fixture: ConversationFixture; provider: ScriptedProvider }>('usage of conversations')
const usage = { input: 11, output: 7 }

test.before.each(async (context) => {
  context.fixture = await ConversationFixture.open()
  context.provider = await ScriptedProvider.start('openai', streamReply({ text: ['Twenty-five days.'], usage }))
})
test.after.each(async ({ fixture, provider }) => {
  await fixture.close()
  await provider.close()
})

test('a blocking threshold responds with 402 before the model is called', async ({ fixture, provider }) => {
  const agent = await fixture.createAgent(provider)
  const talk = await fixture.createConversation(agent)
  const threshold = await fixture.resources.threshold({ limit: 18, action: 'block', entity_type: 'agent', entity_id: agent.id })
  await fixture.sendAndWait(talk, 'How many days?')
  for (const stream of [false, true]) {
    const { status, body } = await fixture.send(talk, 'And next year?', { stream })
    assert.equal([status, body.code], [402, 'BUDGET_EXCEEDED'])
    assert.match(body.error, /18 tokens per day.*18 used/)
    assert.match(body.hint, threshold.id)
  }
  assert.is(provider.received.length, 1)
  await fixture.sendAndWait(await fixture.startConversation(provider), 'How many days?')
  await expectData(fixture.service.put(`/usage/thresholds/${threshold.id}`, { limit: 1000 }))
  await fixture.sendAndWait(talk, 'And next year?')
})

test('replies whose provider reports no usage are marked as estimated, also after a restart', async (context) => {
  const { fixture, provider } = context
  const talk = await fixture.startConversation(provider)
  const reported = await fixture.sendAndWait(talk, 'How many days?')
  assert.equal(reported.usage, { input_tokens: 11, output_tokens: 7, total_tokens: 18 })
  provider.script = [streamReply({ text: ['Twenty-five days.'], usage: null })]
  const reply = await fixture.sendAndWait(talk, 'And next year?')
  assert.is(reply.usage.estimated, true)
  const stream = await fixture.stream(talk, 'And the year after?')
  assert.is((await stream.readUntil('message_end')).data.message.usage?.estimated, true)
  provider.script = [disconnectAfter('Twenty-')]
  await fixture.send(talk, 'Why?')
  provider.script = [respondWithError(400)]
  await fixture.send(talk, 'Why not?')
  context.fixture = await fixture.restart()
  const messages = (await context.fixture.listMessages(talk)).filter(({ role }) => role === 'assistant')
  // A request that the provider rejected used nothing, so nothing is estimated.
  assert.equal(
    messages.map(({ usage }) => usage.estimated),
    [undefined, true, true, true, undefined],
  )
  const stats = await expectData(context.fixture.service.get('/usage/stats'))
  assert.is(stats.estimated_tokens, stats.total_tokens - 18)
})

test('concurrent messages cannot exceed a nearly reached threshold', async ({ fixture, provider }) => {
  const agent = await fixture.createAgent(provider)
  await fixture.sendAndWait(await fixture.createConversation(agent), 'How many days?')
  await fixture.resources.threshold({ limit: 50, action: 'block', entity_type: 'agent', entity_id: agent.id })
  const talks = await Promise.all(Array.from({ length: 12 }, () => fixture.createConversation(agent)))
  const answers = await Promise.all(talks.map((talk) => fixture.send(talk, 'How many days?')))
  const passed = answers.filter(({ status }) => status === 200).length
  assert.ok(passed >= 1 && passed <= 2, `${passed} passed`)
  const { total_tokens } = await expectData(fixture.service.get(`/usage/stats?entity_type=agent&entity_id=${agent.id}`))
  assert.is(total_tokens, 18 * (1 + passed))
})

test('every call is counted once, also for failed replies', async ({ fixture, provider }) => {
  const agent = await fixture.createAgent(provider)
  const talk = await fixture.createConversation(agent)
  await fixture.sendAndWait(talk, 'How many days?')
  provider.script = [disconnectAfter('Twenty-')]
  assert.is((await fixture.send(talk, 'And next year?')).status, 502)
  provider.script = [respondWithError(400)]
  assert.is((await fixture.send(talk, 'Why?')).status, 502)
  provider.script = [streamText('Sorry.')]
  await fixture.sendAndWait(talk, 'Hello?')
  const calls = await fixture.service.database.all("SELECT status FROM usage_calls WHERE kind = 'chat' ORDER BY began_at, id")
  assert.equal(
    calls.map(({ status }) => status),
    ['done', 'failed', 'failed', 'done'],
  )
  const stats = await expectData(fixture.service.get(`/usage/stats?entity_type=agent&entity_id=${agent.id}`))
  const messages = (await fixture.listMessages(talk)).filter(({ role }) => role === 'assistant')
  assert.is(
    messages.reduce((sum, message) => sum + message.usage.total_tokens, 0),
    stats.total_tokens,
  )
  const analytics = await expectData(fixture.service.get(`/analytics/conversations?agent_id=${agent.id}`))
  assert.equal([analytics.total_tokens, analytics.total_messages], [stats.total_tokens, 8])
})

for (const wire of ['openai', 'anthropic', 'google'] as const)
  test(`${wire}: cached input is reported separately at full price`, async ({ fixture }) => {
    const cached = await ScriptedProvider.start(wire, streamReply({ text: ['Hi.'], usage: { input: 1_000, output: 100, cached: 600 } }))
    const agent = await fixture.createAgent(cached, {}, { pricing: { input: 3, output: 15 } })
    const reply = await fixture.sendAndWait(await fixture.createConversation(agent), 'Hello?').finally(() => cached.close())
    assert.equal([reply.usage.total_tokens, reply.cost], [1_100, 4.5])
    const stats = await expectData(fixture.service.get(`/usage/stats?entity_type=agent&entity_id=${agent.id}`))
    assert.equal([stats.input_tokens, stats.cached_tokens, stats.total_cost], [1_000, 600, 4.5])
  })

test.run()
