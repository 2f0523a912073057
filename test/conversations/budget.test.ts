import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type ScriptedProvider, streamReply, streamText } from '../harness/scripted-provider.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('budget')
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

test('an exceeded budget rejects the message before anything is stored or called', async () => {
  const agent = await fixture.createAgent(provider)
  const id = await fixture.createConversation(agent)
  await fixture.resources.threshold({ entity_type: 'agent', entity_id: agent.id, limit: 17, action: 'block' })
  await fixture.sendAndWait(id, 'Within')
  const before = provider.received.length
  for (const stream of [false, true]) await expectError(fixture.send(id, 'Beyond', { stream }), 'BUDGET_EXCEEDED')
  assert.is(provider.received.length, before)
  assert.is((await fixture.listMessages(id)).length, 2)
  const other = await fixture.startConversation(provider)
  assert.is((await fixture.sendAndWait(other, 'Hi')).content, 'x')
})

test('a budget exceeded between steps ends the reply and keeps its text', async () => {
  const agent = await fixture.createAgent(provider)
  const id = await fixture.createConversation(agent)
  const threshold = await fixture.resources.threshold({ entity_type: 'agent', entity_id: agent.id, limit: 17, action: 'block' })
  provider.script = [streamReply({ text: ['Let me see.'], calls: [{ name: 'nothing', arguments: {} }] }), streamText('never said')]
  const stream = await fixture.stream(id, 'Hi')
  const { data } = await stream.readUntil('error')
  assert.is(data.code, 'BUDGET_EXCEEDED')
  const [, reply] = await fixture.listMessages(id)
  assert.equal(
    [reply?.content, reply?.finish_reason, reply?.error_code, reply?.usage.total_tokens],
    ['Let me see.', 'error', 'BUDGET_EXCEEDED', 17],
  )
  await expectData(fixture.service.delete(`/usage/thresholds/${threshold.id}`))
  provider.script = [streamText('x')]
  assert.is((await fixture.sendAndWait(id, 'Go on')).content, 'x')
})

test.run()
