import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MessageDraft } from '../../../daemon/conversations/reply/message-draft.ts'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { ScriptedToolCall } from '../../harness/provider-formats.ts'
import { type ScriptedProvider, streamReply, streamText } from '../../harness/scripted-provider.ts'
import type { Json } from '../../harness/test-server.ts'
import { type RecordingServer, startRecordingServer } from '../../outbound/recording-server.ts'
import { ConversationFixture } from '../conversation-fixture.ts'

const test = suite('excessive tool calls')
let fixture: ConversationFixture
let provider: ScriptedProvider
let server: RecordingServer
let tool: Json

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
    server = await startRecordingServer((_, response) => response.setHeader('content-type', 'application/json').end('{}'))
    tool = await fixture.resources.apiTool({
      name: 'lookup',
      url: `${server.origin}/{id}`,
      parameters: { type: 'object', properties: { id: { type: 'string' } } },
      allow_private_network: true,
    })
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close(), server.close()])))

const listSentToolMessages = () => provider.received.at(-1)?.body.messages.filter(({ role }: Json) => role === 'tool')

test('of thousands of tool calls in one step, the first 64 are run and the model is told', async () => {
  const id = await fixture.startConversation(provider, { tools: [tool.id] })
  const calls = Array.from({ length: 8_000 }, (_, index): ScriptedToolCall => ({ id: '', name: 'lookup', arguments: { id: `${index}` } }))
  provider.script = [streamReply({ calls }), streamText('Done.')]
  await fixture.sendAndWait(id, 'Look up everything')
  const [, reply] = await fixture.listMessages(id)
  assert.equal([reply?.content, reply?.tool_calls.length, reply?.finish_reason], ['Done.', 64, 'stop'])
  assert.is(new Set(reply?.tool_calls.map((call: Json) => call.id)).size, 64)
  const results = listSentToolMessages()
  assert.is(results.length, 64)
  assert.match(results.at(-1).content, /Only the first 64 of 8000 tool calls were run\. Request the others again if needed\./)
  assert.not.match(results[0].content, /Only the first/)
})

test('arguments nested too deep are refused, the reply ends and is billed once', async () => {
  const id = await fixture.startConversation(provider, { tools: [tool.id] })
  const deep = `${'{"a":'.repeat(1_200)}1${'}'.repeat(1_200)}`
  provider.script = [streamReply({ calls: [{ id: 'deep', name: 'lookup', arguments: deep }] }), streamText('Sorry.')]
  const { id: messageId } = await fixture.sendAndWait(id, 'Look it up')
  const [, reply] = await fixture.listMessages(id)
  assert.equal([reply?.id, reply?.content, reply?.finish_reason], [messageId, 'Sorry.', 'stop'])
  assert.equal(reply?.tool_calls[0].arguments, {})
  assert.match(reply?.tool_calls[0].error, /nested deeper than 100 levels/)
  assert.match(listSentToolMessages()[0].content, /nested deeper than 100 levels/)
  const { agent_id } = await expectData(fixture.service.get(`/conversations/${id}`))
  const usage = await expectData(fixture.service.get(`/usage/stats?entity_type=agent&entity_id=${agent_id}`))
  assert.is(usage.total_tokens, 2 * 17)
})

test('tool calls with the same id get unique ids', () => {
  const draft = new MessageDraft({ id: 'msg_1', timestamp: '', model_id: 'model_1' })
  const ids = ['a', 'a', 'a-2', 'a', '', ''].map((id) => draft.addToolCall({ id, name: 'lookup', arguments: {} }).id)
  assert.equal(ids, ['a', 'a-2', 'a-2-2', 'a-3', 'call', 'call-2'])
  for (let count = 0; count < 50_000; count++) draft.addToolCall({ id: 'same', name: 'lookup', arguments: {} })
  assert.is(new Set(draft.toolCalls.map(({ id }) => id)).size, 50_006)
})

test('a reply of more than 2,000,000 characters is cut off there, also within one event', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [streamText('y'.repeat(3_000_000), 'more')]
  const { content, finish_reason } = await fixture.sendAndWait(id, 'Write a lot')
  assert.equal([content.length, finish_reason], [2_000_000, 'length'])
})

test.run()
