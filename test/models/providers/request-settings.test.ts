import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ChatInput } from '../../../daemon/models/chat-model.ts'
import { buildCallOptions } from '../../../daemon/models/providers/ai-sdk/build-call-options.ts'
import { estimateInput } from '../../../daemon/models/token-estimate.ts'

const test = suite('request settings')
const messages: ChatInput['messages'] = [{ role: 'user', content: 'Hi' }]
const tools = [{ name: 'search', description: '', parameters: {} }]

test('settings are passed to the AI SDK, and missing ones are left out', () => {
  const schema = { type: 'object' }
  const { prompt: _, ...options } = buildCallOptions({
    messages,
    tools,
    toolChoice: { name: 'search' },
    topP: 0.9,
    stop: ['END'],
    seed: 7,
    frequencyPenalty: 0.1,
    presencePenalty: 0.2,
    responseFormat: { name: 'days', schema, strict: true },
  })
  assert.equal(options, {
    tools: [{ type: 'function', name: 'search', description: '', inputSchema: {} }],
    toolChoice: { type: 'tool', toolName: 'search' },
    topP: 0.9,
    stopSequences: ['END'],
    seed: 7,
    frequencyPenalty: 0.1,
    presencePenalty: 0.2,
    responseFormat: { type: 'json', schema, name: 'days' },
  })
  assert.equal(Object.keys(buildCallOptions({ messages })), ['prompt'])
  assert.equal(buildCallOptions({ messages, tools, toolChoice: 'required' }).toolChoice, { type: 'required' })
  assert.equal(buildCallOptions({ messages, responseFormat: {} }).responseFormat, { type: 'json' })
})

test('images are passed to the AI SDK and count as tokens', () => {
  const images = [{ type: 'image/png', data: 'aGk=' }]
  const [message] = buildCallOptions({ messages: [{ role: 'user', content: 'What is this?', images }] }).prompt
  assert.equal(message?.content, [
    { type: 'text', text: 'What is this?' },
    { type: 'file', mediaType: 'image/png', data: 'aGk=' },
  ])
  const [alone] = buildCallOptions({ messages: [{ role: 'user', content: '', images }] }).prompt
  assert.equal(alone?.content, [{ type: 'file', mediaType: 'image/png', data: 'aGk=' }])
  assert.ok(estimateInput({ messages: [{ content: '', images }] }) > estimateInput({ messages: [{ content: '' }] }) + 500)
})

test.run()
