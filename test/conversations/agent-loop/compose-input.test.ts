import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { buildHistory, composeInput, type PromptInput } from '../../../daemon/conversations/agent-loop/compose-input.ts'
import type { StoredMessage } from '../../../daemon/conversations/store.ts'
import type { ChatMessage } from '../../../daemon/models/chat-model.ts'
import { estimateInput } from '../../../daemon/models/token-estimate.ts'

const test = suite('context window')
/** Creates a text of about this many tokens. */
const words = (tokens: number) => 'abc '.repeat(tokens)
const turn = (name: string, tokens: number): ChatMessage[] => [
  { role: 'user', content: `${name}?` },
  { role: 'assistant', content: `${name}! ${words(tokens)}` },
]
const setting = (more: Partial<PromptInput> = {}): PromptInput => ({
  system: 'S',
  history: [],
  question: 'Q',
  contextTokens: 4_000,
  maxTokens: 1_000,
  ...more,
})
const nothing = { steps: [], tools: [], passages: undefined }
const firstWords = (messages: readonly ChatMessage[]) => messages.map(({ content }) => content.split(' ')[0])

test('everything is included if it fits', () => {
  const { messages, tools, passages } = composeInput(setting({ history: [turn('one', 10), turn('two', 10)] }), nothing)
  assert.equal(firstWords(messages), ['S', 'one?', 'one!', 'two?', 'two!', 'Q'])
  assert.equal([tools, passages], [undefined, undefined])
})

test('the newest complete turns are kept, with room for the reply', () => {
  const past = [turn('one', 10), turn('two', 1_500), turn('three', 1_000), turn('four', 900)]
  const composed = composeInput(setting({ history: past }), nothing)
  assert.equal(firstWords(composed.messages), ['S', 'three?', 'three!', 'four?', 'four!', 'Q'])
  assert.ok(estimateInput(composed) <= 3_000)
})

test('instructions and question are included even if nothing else fits', () => {
  const composed = composeInput(setting({ system: words(5_000), history: [turn('one', 1)] }), nothing)
  assert.equal(
    composed.messages.map(({ role }) => role),
    ['system', 'user'],
  )
})

test('at most half of the context window is reserved for the reply', () => {
  for (const maxTokens of [null, 1_000_000]) {
    const { messages } = composeInput(setting({ maxTokens, history: [turn('one', 1_500)], contextTokens: 8_000 }), nothing)
    assert.is(messages.length, 4)
  }
})

test('tool definitions count as input', () => {
  const tools = [{ name: 'a', description: words(1_500), parameters: { type: 'object' } }]
  const { messages, tools: offered } = composeInput(setting({ history: [turn('one', 1_600)] }), { ...nothing, tools })
  assert.equal(firstWords(messages), ['S', 'Q'])
  assert.is(offered, tools)
})

test('the longest tool results are truncated before earlier turns are dropped', () => {
  const result = (name: string, content: string): ChatMessage => ({ role: 'tool', callId: name, name, content, failed: false })
  const done: ChatMessage[] = [
    { role: 'assistant', content: '', toolCalls: [] },
    result('short', words(100)),
    result('long', words(20_000)),
    result('longer', words(50_000)),
  ]
  const composed = composeInput(setting({ history: [turn('one', 10)] }), { ...nothing, steps: done })
  assert.equal(firstWords(composed.messages).slice(0, 4), ['S', 'one?', 'one!', 'Q'])
  const [, , , , , short, long, longer] = composed.messages
  assert.is(short?.content, words(100))
  assert.match(long?.content ?? '', /characters are left out; call the tool again for the rest\)$/)
  const [a, b] = [long, longer].map((message) => message?.content.length ?? 0) as [number, number]
  assert.ok(Math.abs(a - b) < 200, `${a} ${b}`)
  assert.ok(estimateInput(composed) <= 3_100, String(estimateInput(composed)))
})

test('long results and attached files of earlier turns are truncated before the turns are dropped', () => {
  const call: ChatMessage = { role: 'assistant', content: '', toolCalls: [] }
  const result: ChatMessage = { role: 'tool', callId: 'c', name: 'c', content: words(5_000), failed: false }
  const past = [[{ role: 'user' as const, content: `one? ${words(9_000)}` }, call, result], turn('two', 500)]
  const { messages } = composeInput(setting({ history: past }), nothing)
  assert.equal(firstWords(messages), ['S', 'one?', '', 'abc', 'two?', 'two!', 'Q'])
  assert.match(messages[1]?.content ?? '', /ask the user for the rest\)$/)
  assert.match(messages[3]?.content ?? '', /call the tool again for the rest\)$/)
  assert.ok(estimateInput({ messages }) <= 3_000)
})

test('the summary of earlier turns is part of the instructions', () => {
  const { messages } = composeInput(setting({ summary: 'They met.', history: [turn('two', 5)] }), nothing)
  assert.is(messages[0]?.content, 'S\n\nThey met.')
})

test('the best passages are kept, at least the first', () => {
  const passage = (tokens: number) => ({ content: words(tokens), source: 's', page: 1 })
  const kept = (...tokens: number[]) =>
    composeInput(setting(), { ...nothing, passages: tokens.map(passage) }).passages?.map(({ content }) => content.length)
  assert.equal(kept(1_000, 1_500, 1_000), [4_000, 6_000])
  const [only, ...more] = kept(10_000, 1) ?? []
  assert.ok((only as number) < 13_000 && more.length === 0)
  assert.equal(composeInput(setting(), { ...nothing, passages: [] }).passages, [])
})

test('history omits empty replies and citation markers and includes tool results', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const message = (role: 'user' | 'assistant', content: string, more: Partial<StoredMessage> = {}): StoredMessage => ({
    id: 'm',
    role,
    content,
    timestamp: at,
    ...more,
  })
  const citation = { index: 1, source: 'a', page: 1, document_id: 'd', content: 'c', score: 1, cited: true }
  const stored = [
    message('user', 'one'),
    message('assistant', '', { finish_reason: 'error' }),
    message('user', 'two'),
    message('assistant', 'half a [1]', { finish_reason: 'aborted', citations: [], tool_calls: [] }),
    message('user', 'three'),
    message('assistant', 'found [1].', {
      citations: [citation],
      tool_calls: [
        { id: 'k', name: 'docs', arguments: {}, result: { citations: [1] } },
        { id: 'w', name: 'weather', arguments: { city: 'Rome' }, result: { degrees: 20 } },
        { id: 'f', name: 'weather', arguments: {}, error: 'no' },
        { id: 'g', name: 'gone', arguments: {}, result: 1 },
      ],
    }),
  ]
  assert.equal(buildHistory(stored, ['weather']), [
    [{ role: 'user', content: 'one' }],
    [
      { role: 'user', content: 'two' },
      { role: 'assistant', content: 'half a [1]' },
    ],
    [
      { role: 'user', content: 'three' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'w', name: 'weather', arguments: { city: 'Rome' } }] },
      { role: 'tool', callId: 'w', name: 'weather', content: '{"degrees":20}', failed: false },
      { role: 'assistant', content: 'found.' },
    ],
  ])
})

test.run()
