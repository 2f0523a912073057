/** Reduction of events in order, out of order, repeated, missing and unknown. */
import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReplyEvent, ReplyEventName, ReplyEvents } from '../../../src/contract/reply-events.ts'
import { type Citation, getText, type Message, type ReplyState } from '../../../src/tui/state/reply-reducer.ts'
import {
  EMPTY_TRANSCRIPT,
  findPendingConfirmation,
  reduceTranscript,
  type Transcript,
  type TranscriptAction,
} from '../../../src/tui/state/transcript-reducer.ts'

const test = suite('transcript')

const event = <Name extends ReplyEventName>(name: Name, data: ReplyEvents[Name], id?: number | string): TranscriptAction => ({
  kind: 'event',
  at: 1000,
  event: { event: name, data, ...(id === undefined ? {} : { id: String(id) }) } as ReplyEvent,
})
const START = { conversation_id: 'conv_1', message_id: 'msg_2', user_message_id: 'msg_1', model_id: 'model_1', agent_id: 'agent_1' }
const message = (fields: Partial<Message> = {}): Message => ({
  id: 'msg_2',
  role: 'assistant',
  content: 'Hello there.',
  timestamp: '2026-01-31T09:30:00.000Z',
  finish_reason: 'stop',
  ...fields,
})
const citation = (index: number, fields: Partial<Citation> = {}): Citation => ({
  index,
  source: 'leave.md',
  page: 1,
  document_id: 'doc_1',
  content: 'Twenty-five days.',
  score: 0.9,
  cited: false,
  ...fields,
})
const said: TranscriptAction = { kind: 'said', text: 'Hi' }
/** Whoever writes into a state that was handed out fails. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    for (const part of Object.values(Object.freeze(value))) frozen(part)
  return value
}
const after = (...happenings: TranscriptAction[]): Transcript =>
  happenings.reduce((state, each) => frozen(reduceTranscript(state, frozen(each))), frozen(EMPTY_TRANSCRIPT))
const last = ({ entries }: Transcript) => entries.at(-1) as ReplyState
const tools = (reply: ReplyState | undefined) => (reply?.parts ?? []).flatMap((part) => (part.kind === 'tool' ? [part.tool] : []))

test('a sent message is added and a reply is awaited', () => {
  assert.equal(after(said), { entries: [{ kind: 'said', text: 'Hi' }], live: undefined, isAwaitingReply: true })
})

test('message_start sets the id and the model of the reply', () => {
  const { live, isAwaitingReply } = after(said, event('message_start', START, 1))
  assert.equal([live?.id, live?.modelId, live?.status, live?.lastEventId, isAwaitingReply], ['msg_2', 'model_1', 'writing', '1', true])
})

test('deltas are joined to one text', () => {
  const { live } = after(
    said,
    event('message_start', START, 1),
    event('message_delta', { text: 'Hel' }, 2),
    event('message_delta', { text: 'lo' }, 3),
  )
  assert.equal(live?.parts, [{ kind: 'text', text: 'Hello' }])
  assert.is(live?.lastEventId, '3')
})

test('retrieval and tool results add citations; a later one with the same index wins', () => {
  const { live } = after(
    said,
    event('retrieval', { citations: [citation(2), citation(1)] }),
    event('tool_result', { id: 'c1', name: 'search', citations: [citation(2, { source: 'travel.md' }), citation(3)] }),
  )
  assert.equal(
    live?.citations.map(({ index, source }) => `${index} ${source}`),
    ['1 leave.md', '2 travel.md', '3 leave.md'],
  )
})

test('a tool call between two texts runs and finishes', () => {
  const before = after(
    said,
    event('message_delta', { text: 'I look.' }),
    event('tool_call', { id: 'c1', name: 'search', arguments: { query: 'leave' } }),
  )
  assert.equal(tools(before.live), [{ id: 'c1', name: 'search', arguments: { query: 'leave' }, state: 'running', since: 1000 }])
  const { live } = [
    event('tool_result', { id: 'c1', name: 'search', result: { hits: 2 }, latency_ms: 12, citations: [citation(1)] }),
    event('message_delta', { text: 'Found.' }),
  ].reduce(reduceTranscript, before)
  assert.equal(
    live?.parts.map((part) => (part.kind === 'text' ? part.text : `${part.tool.state} ${part.tool.latencyMs} ${part.tool.passages}`)),
    ['I look.', 'done 12 1', 'Found.'],
  )
})

test('a failed tool call has its error', () => {
  const { live } = after(
    said,
    event('tool_call', { id: 'c1', name: 'x', arguments: {} }),
    event('tool_result', { id: 'c1', name: 'x', error: 'No such host.' }),
  )
  assert.equal(
    tools(live).map(({ state, error }) => [state, error]),
    [['failed', 'No such host.']],
  )
})

test('a tool call waits for its confirmation', () => {
  const call = { id: 'c1', name: 'delete_user', arguments: { id: 4 } }
  const waiting = after(said, event('tool_call', call), event('confirmation_required', call))
  assert.is(findPendingConfirmation(waiting)?.name, 'delete_user')
  const allowed = reduceTranscript(waiting, { kind: 'answered', tool: 'c1', allow: true, at: 5000 })
  assert.equal(
    [findPendingConfirmation(allowed), tools(allowed.live)[0]?.state, tools(allowed.live)[0]?.since],
    [undefined, 'running', 5000],
  )
  const refused = reduceTranscript(waiting, { kind: 'answered', tool: 'c1', allow: false, at: 5000 })
  assert.is(tools(refused.live)[0]?.state, 'refused')
  const told = reduceTranscript(
    refused,
    event('tool_result', { id: 'c1', name: 'delete_user', error: 'Refused.', confirmation: 'refused' }),
  )
  assert.is(tools(told.live)[0]?.state, 'refused')
  assert.equal(
    reduceTranscript(told, { kind: 'answered', tool: 'c1', allow: true, at: 1 }),
    told,
    'an answer that comes late changes nothing',
  )
})

test('message_end sets text, usage, cost and citations', () => {
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
  const state = after(
    said,
    event('message_start', START),
    event('message_delta', { text: 'Hello there.' }),
    event('message_end', { message: message({ usage, cost: 0.002, latency_ms: 900, citations: [citation(1, { cited: true })] }) }),
  )
  assert.equal([state.live, state.isAwaitingReply], [undefined, false])
  const reply = last(state)
  assert.equal(
    [reply.status, getText(reply), reply.usage, reply.cost, reply.latencyMs, reply.citations.length],
    ['done', 'Hello there.', usage, 0.002, 900, 1],
  )
})

test('the finish reason sets the status aborted, interrupted or failed', () => {
  const ends = (finish_reason: NonNullable<Message['finish_reason']>) =>
    last(after(said, event('message_end', { message: message({ finish_reason }) }))).status
  assert.equal((['stop', 'length', 'aborted', 'interrupted', 'error'] as const).map(ends), [
    'done',
    'done',
    'aborted',
    'interrupted',
    'failed',
  ])
})

test('an error event ends the reply and keeps its text', () => {
  const state = after(
    said,
    event('message_start', START),
    event('message_delta', { text: 'Hel' }),
    event('error', { error: 'Overloaded.', code: 'PROVIDER_ERROR', hint: 'Wait.' }),
  )
  assert.equal(
    [getText(last(state)), last(state).status, last(state).error, last(state).hint, state.isAwaitingReply],
    ['Hel', 'failed', 'Overloaded.', 'Wait.', false],
  )
})

test('an error event before the start is a failed reply', () => {
  const state = after(said, event('error', { error: 'No key.', code: 'PROVIDER_ERROR', message_id: 'msg_2' }))
  assert.equal([state.entries.length, last(state).id, last(state).error], [2, 'msg_2', 'No key.'])
})

test('a stream without a terminal event ends running tool calls', () => {
  const call = { id: 'c1', name: 'x', arguments: {} }
  const state = after(said, event('message_delta', { text: 'Hel' }), event('tool_call', call), { kind: 'ended', status: 'interrupted' })
  assert.equal(
    [getText(last(state)), last(state).status, tools(last(state))[0]?.state, state.live],
    ['Hel', 'interrupted', 'failed', undefined],
  )
  assert.equal(reduceTranscript(state, { kind: 'ended', status: 'aborted' }), state, 'it ends once')
})

test('a failure before the first event is a failed reply', () => {
  const state = after(said, { kind: 'ended', status: 'failed', error: 'Nothing answers.' })
  assert.equal([last(state).error, state.isAwaitingReply], ['Nothing answers.', false])
})

test('repeated events up to the last id are ignored', () => {
  const first = [event('message_start', START, 1), event('message_delta', { text: 'Hel' }, 2), event('message_delta', { text: 'lo' }, 3)]
  const state = after(said, ...first, ...first, event('message_delta', { text: '!' }, 4))
  assert.equal(state.live?.parts, [{ kind: 'text', text: 'Hello!' }])
  const ten = after(
    said,
    event('message_delta', { text: 'a' }, 9),
    event('message_delta', { text: 'b' }, 10),
    event('message_delta', { text: 'a' }, 9),
  )
  assert.is(getText(ten.live as ReplyState), 'ab', 'numbers are compared as numbers')
})

test('a repeated reply without ids replaces its text', () => {
  const first = [event('message_start', START), event('message_delta', { text: 'Hello' })]
  assert.is(getText(after(said, ...first, ...first).live as ReplyState), 'Hello')
})

test('a repeated message_end adds no entry', () => {
  const state = after(
    said,
    event('message_start', START),
    event('message_end', { message: message() }),
    event('message_end', { message: message({ cost: 1 }) }),
  )
  assert.equal([state.entries.length, last(state).cost, getText(last(state))], [2, 1, 'Hello there.'])
})

test('a repeated tool_call event is one tool call', () => {
  const call = { id: 'c1', name: 'x', arguments: {} }
  const result = { id: 'c1', name: 'x', result: 1 }
  const { live } = after(
    said,
    event('tool_call', call),
    event('tool_result', result),
    event('tool_call', call),
    event('tool_result', result),
  )
  assert.equal(
    tools(live).map(({ state }) => state),
    ['done'],
  )
})

test('a text before its start, a result before its call and an early confirmation are accepted', () => {
  const { live } = after(
    said,
    event('message_delta', { text: 'Hel' }),
    event('message_start', START),
    event('message_delta', { text: 'lo' }),
  )
  assert.equal([live?.id, getText(live as ReplyState)], ['msg_2', 'Hello'])
  const called = after(
    said,
    event('tool_result', { id: 'c1', name: 'x', result: 1 }),
    event('tool_call', { id: 'c1', name: 'x', arguments: { a: 1 } }),
  )
  assert.equal(
    tools(called.live).map((tool) => [tool.state, tool.arguments]),
    [['done', { a: 1 }]],
  )
  const asked = after(
    said,
    event('confirmation_required', { id: 'c1', name: 'x', arguments: {} }),
    event('tool_call', { id: 'c1', name: 'x', arguments: {} }),
  )
  assert.is(findPendingConfirmation(asked)?.id, 'c1')
})

test('events after the end are ignored', () => {
  const done = after(said, event('message_start', START), event('message_end', { message: message() }))
  for (const late of [
    event('message_delta', { text: 'late' }),
    event('tool_call', { id: 'c', name: 'x', arguments: {} }),
    event('message_start', START),
  ])
    assert.equal(reduceTranscript(done, late), done)
  assert.equal(reduceTranscript(done, event('error', { error: 'late', code: 'INTERNAL' })), done)
})

test('message_end of another reply is ignored', () => {
  const state = after(said, event('message_start', START), event('message_end', { message: message({ id: 'msg_9' }) }))
  assert.is(state.live?.id, 'msg_2')
})

test('the start of another reply interrupts the current one', () => {
  const state = after(
    said,
    event('message_start', START),
    event('message_delta', { text: 'a' }),
    event('message_start', { ...START, message_id: 'msg_4' }),
  )
  assert.equal([last(state).status, state.live?.id], ['interrupted', 'msg_4'])
})

test('message_end supplies missed text and tool calls', () => {
  const missed = after(
    said,
    event('message_start', START),
    event('message_delta', { text: 'Hello' }),
    event('message_end', { message: message() }),
  )
  assert.equal(last(missed).parts, [{ kind: 'text', text: 'Hello there.' }])
  const other = after(
    said,
    event('message_start', START),
    event('message_delta', { text: 'Hxllo' }),
    event('message_end', { message: message() }),
  )
  assert.equal(last(other).parts, [{ kind: 'text', text: 'Hello there.' }])
  const called = after(
    said,
    event('message_start', START),
    event('message_end', { message: message({ tool_calls: [{ id: 'c1', name: 'x', arguments: {}, result: 1 }] }) }),
  )
  assert.equal(
    tools(last(called)).map(({ name, state }) => [name, state]),
    [['x', 'done']],
  )
})

test('an aborted reply is updated by the stored message', () => {
  const aborted = after(said, event('message_start', START), event('message_delta', { text: 'Hello' }), {
    kind: 'ended',
    status: 'aborted',
  })
  const state = reduceTranscript(
    aborted,
    event('message_end', { message: message({ content: 'Hello', finish_reason: 'aborted', cost: 0.1 }) }),
  )
  assert.equal([state.entries.length, last(state).status, last(state).cost], [2, 'aborted', 0.1])
})

test('a joined reply is read from its start', () => {
  const joined = after({ kind: 'joined', reply: 'msg_2' })
  assert.equal([joined.live?.id, joined.isAwaitingReply], ['msg_2', true])
  const state = [event('message_start', START, 1), event('message_delta', { text: 'Hello' }, 2)].reduce(reduceTranscript, joined)
  assert.equal([getText(state.live as ReplyState), state.live?.lastEventId], ['Hello', '2'])
})

test('an unknown event is ignored', () => {
  const state = after(said, event('message_start', START, 1))
  const unknown = { kind: 'event', at: 1, event: { event: 'applause', data: {}, id: '2' } } as unknown as TranscriptAction
  assert.equal({ ...reduceTranscript(state, unknown).live, lastEventId: '1' }, state.live)
})

test('malformed event data does not throw', () => {
  const odd = [
    event('message_delta', {} as never),
    event('retrieval', {} as never),
    event('tool_call', { id: 'c1', name: 'x' } as never),
    event('tool_result', { id: 'c2' } as never),
  ]
  const state = after(said, ...odd)
  assert.is(tools(state.live).length, 2)
})

test('stored messages become entries', () => {
  const messages = [
    message({ id: 'msg_1', role: 'user', content: 'Hi' }),
    message({ tool_calls: [{ id: 'c1', name: 'x', arguments: {}, error: 'no' }] }),
  ]
  const { entries, live, isAwaitingReply } = after({ kind: 'loaded', messages })
  assert.equal(
    [entries.length, entries[0], tools(entries[1] as ReplyState)[0]?.state, live, isAwaitingReply],
    [2, { kind: 'said', text: 'Hi' }, 'failed', undefined, false],
  )
})

test('notes are entries', () => {
  const state = after(said, { kind: 'noted', text: 'Saved.', tone: 'good' })
  assert.equal(state.entries.at(-1), { kind: 'note', tone: 'good', text: 'Saved.' })
})

test('the stored message wins for any order, repetition and loss of events', () => {
  const call = { id: 'c1', name: 'x', arguments: {} }
  const heard = [
    event('message_start', START, 1),
    event('message_delta', { text: 'Hello ' }, 2),
    event('tool_call', call, 3),
    event('tool_result', { ...call, result: 1 }, 4),
    event('message_delta', { text: 'there.' }, 5),
    { kind: 'ended', status: 'interrupted' } as const,
  ]
  const stored = message({ tool_calls: [{ ...call, result: 1 }] })
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...heard), { maxLength: 12 }), (some) => {
      const state = after(said, ...some, event('message_start', START), event('message_end', { message: stored }))
      const replies = state.entries.flatMap((entry) => (entry.kind === 'reply' && entry.id === 'msg_2' ? [entry] : []))
      assert.equal([state.live, state.isAwaitingReply, replies.map(getText)], [undefined, false, ['Hello there.']])
      assert.ok(replies.flatMap(tools).every(({ state: how }) => how === 'done'))
    }),
  )
})

test.run()
