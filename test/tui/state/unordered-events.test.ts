/** Events that are missing, repeated or out of order. */
import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getText, type ReplyState } from '../../../src/tui/state/reply-reducer.ts'
import { findPendingConfirmation, reduceTranscript } from '../../../src/tui/state/transcript-reducer.ts'

import { after, event, last, message, START, said, tools } from './transcript-fixture.ts'

const test = suite('unordered events')

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

test('the stored message wins for any order, repetition and loss of events', () => {
  const call = { id: 'c1', name: 'x', arguments: {} }
  const received = [
    event('message_start', START, 1),
    event('message_delta', { text: 'Hello ' }, 2),
    event('tool_call', call, 3),
    event('tool_result', { ...call, result: 1 }, 4),
    event('message_delta', { text: 'there.' }, 5),
    { kind: 'ended', status: 'interrupted' } as const,
  ]
  const stored = message({ tool_calls: [{ ...call, result: 1 }] })
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...received), { maxLength: 12 }), (some) => {
      const state = after(said, ...some, event('message_start', START), event('message_end', { message: stored }))
      const replies = state.entries.flatMap((entry) => (entry.kind === 'reply' && entry.id === 'msg_2' ? [entry] : []))
      assert.equal([state.live, state.isAwaitingReply, replies.map(getText)], [undefined, false, ['Hello there.']])
      assert.ok(replies.flatMap(tools).every(({ state: status }) => status === 'done'))
    }),
  )
})

test.run()
