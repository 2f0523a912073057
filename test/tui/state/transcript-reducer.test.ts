import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Message } from '../../../src/contract/schemas/messages.ts'
import { sumUsage } from '../../../src/tui/state/chat-state.ts'
import { getText, type ReplyState } from '../../../src/tui/state/reply-reducer.ts'
import { findPendingConfirmation, reduceTranscript, type TranscriptAction } from '../../../src/tui/state/transcript-reducer.ts'

import { after, citation, event, last, message, START, said, tools } from './transcript-fixture.ts'

const test = suite('transcript')

test('a sent message is added and a reply is awaited', () => {
  assert.equal(after(said), { entries: [{ kind: 'said', text: 'Hi' }], live: undefined, isAwaitingReply: true })
})

test('message_start sets the id and the model of the reply', () => {
  const { live, isAwaitingReply } = after(said, event('message_start', START, 1))
  assert.equal([live?.id, live?.status, live?.lastEventId, isAwaitingReply], ['msg_2', 'writing', '1', true])
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
    live?.parts.map((part) => (part.kind === 'tool' ? `${part.tool.state} ${part.tool.latencyMs} ${part.tool.passages}` : part.text)),
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
  assert.equal(reduceTranscript(told, { kind: 'answered', tool: 'c1', allow: true, at: 1 }), told, 'a late confirmation changes nothing')
})

test('message_end sets text, usage, cost and citations', () => {
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
  const state = after(
    said,
    event('message_start', START),
    event('message_delta', { text: 'Hello there.' }),
    event('message_end', { message: message({ usage, cost: 0.002, citations: [citation(1, { cited: true })] }) }),
  )
  assert.equal([state.live, state.isAwaitingReply], [undefined, false])
  const reply = last(state)
  assert.equal([reply.status, getText(reply), reply.usage, reply.cost, reply.citations.length], ['done', 'Hello there.', usage, 0.002, 1])
})

test('of several replies to a message, only the usage of the last one counts: it contains that of the others', () => {
  const tokens = (total_tokens: number) => ({ input_tokens: total_tokens - 10, output_tokens: 10, total_tokens })
  const answer = (id: string, question: string, total: number, fields: Partial<Message> = {}) => [
    said,
    event('message_start', { ...START, message_id: id, user_message_id: question }),
    event('message_end', { message: message({ id, usage: tokens(total), cost: total, context_tokens: 100, ...fields }) }),
  ]
  const stored = [message({ id: 'msg_1', role: 'user' }), message({ usage: tokens(100), cost: 100, context_tokens: 100 })]
  const loaded: TranscriptAction = { kind: 'loaded', messages: stored }
  const again = [loaded, ...answer('msg_3', 'msg_1', 200), ...answer('msg_4', 'msg_1', 300)]
  assert.equal(sumUsage(after(...again)), { tokens: 300, estimated: false, cost: 300, contextTokens: 100 })
  const rejected: TranscriptAction = { kind: 'ended', status: 'failed', error: 'Rejected.' }
  assert.is(sumUsage(after(...again, said, rejected)).tokens, 300)
  assert.is(sumUsage(after(...again, ...answer('msg_6', 'msg_5', 100))).tokens, 400)
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
  const malformed = [
    event('message_delta', {} as never),
    event('retrieval', {} as never),
    event('tool_call', { id: 'c1', name: 'x' } as never),
    event('tool_result', { id: 'c2' } as never),
  ]
  const state = after(said, ...malformed)
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

test.run()
