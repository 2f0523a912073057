import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { ScriptedProvider, streamReply, streamText } from '../harness/scripted-provider.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('budget')
let parlour: ConversationFixture
let provider: ScriptedProvider

test.before(
  aloud(async () => {
    parlour = await ConversationFixture.open()
    provider = await ScriptedProvider.start('openai', streamText('x'))
  }),
)
test.after(aloud(() => Promise.all([parlour.close(), provider.close()])))

test('a spent budget is told before anything is stored or called', async () => {
  const agent = await parlour.createAgent(provider)
  const id = await parlour.createConversation(agent)
  await parlour.resources.threshold({ entity_type: 'agent', entity_id: agent.id, limit: 17, action: 'block' })
  await parlour.sendAndWait(id, 'Within')
  const before = provider.received.length
  for (const stream of [false, true]) await expectError(parlour.send(id, 'Beyond', { stream }), 'BUDGET_EXCEEDED')
  assert.is(provider.received.length, before)
  assert.is((await parlour.listMessages(id)).length, 2)
  const other = await parlour.startConversation(provider)
  assert.is((await parlour.sendAndWait(other, 'Hi')).content, 'x')
})

test('one that is spent between steps ends the reply, and what came is kept', async () => {
  const agent = await parlour.createAgent(provider)
  const id = await parlour.createConversation(agent)
  const threshold = await parlour.resources.threshold({ entity_type: 'agent', entity_id: agent.id, limit: 17, action: 'block' })
  provider.script = [streamReply({ text: ['Let me see.'], calls: [{ name: 'nothing', arguments: {} }] }), streamText('never said')]
  const stream = await parlour.stream(id, 'Hi')
  const { data } = await stream.readUntil('error')
  assert.is(data.code, 'BUDGET_EXCEEDED')
  const [, reply] = await parlour.listMessages(id)
  assert.equal(
    [reply?.content, reply?.finish_reason, reply?.error_code, reply?.usage.total_tokens],
    ['Let me see.', 'error', 'BUDGET_EXCEEDED', 17],
  )
  await expectData(parlour.service.delete(`/usage/thresholds/${threshold.id}`))
  provider.script = [streamText('x')]
  assert.is((await parlour.sendAndWait(id, 'Go on')).content, 'x')
})

test.run()
