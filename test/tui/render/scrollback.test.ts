/** Lines of the scrollback: complete entries once, unfinished ones live. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createInterruptedError } from '../../../daemon/conversations/agent-loop/write-reply.ts'
import { advanceScrollback, EMPTY_SCROLLBACK } from '../../../src/tui/render/scrollback.ts'
import type { TranscriptAction } from '../../../src/tui/state/transcript-reducer.ts'

import { after, call, citation, delta, end, printActions, result, said, TALK, texts, VIEW } from './transcript-fixture.ts'

const test = suite('scrollback')

test('complete lines are printed once and in order, unfinished ones are live', () => {
  assert.equal(printActions(TALK), {
    done: ['› How many days?', '', '  Let me look.', '', '  ✓ search query: leave · 0.3 s · 1 passage', '', '  You have 25 days [1].'],
    live: ['', '  Enjoy them.'],
  })
  const content = 'Let me look.You have **25** days [1].\n\nEnjoy them.'
  assert.equal(printActions([...TALK, end({ content, citations: [citation(1)] })]).done.slice(-5), [
    '',
    '  Enjoy them.',
    '',
    '  [1] leave.md,\u00a0p.\u00a03',
    '',
  ])
  const second = { content: 'Enjoy them. [2]', citations: [citation(1, { cited: false }), citation(2)] }
  assert.match(
    printActions([...TALK, end(second)]).done.join('\n'),
    '  [2] leave.md,\u00a0p.\u00a03\n  [1] was also found but is not cited.',
  )
})

test('the output does not depend on the number of updates', () => {
  const all = [...TALK, end({ content: 'Let me look.You have **25** days [1].\n\nEnjoy them.' })]
  assert.equal(texts(advanceScrollback(EMPTY_SCROLLBACK, after(...all), VIEW).done), printActions(all).done)
})

test('a command that arrives in pieces is shown once', () => {
  const script = process.argv[1] as string
  process.argv[1] = '/project/node_modules/.bin/cadre'
  try {
    const { done } = printActions([said, delta('Run cadre models discover'), delta(' --add now.\n\nThen ask.')])
    assert.equal(done.slice(2), ['  Run cadre models discover --add now.'])
    assert.equal(printActions([said, delta('Run cadre models discover --add now.\n\nThen ask.')]).done.slice(2), [
      '  Run npx cadre models discover --add now.',
    ])
  } finally {
    process.argv[1] = script
  }
})

test('a running tool call shows its duration and holds back the following parts', () => {
  const { done, live } = printActions([said, call('c1'), call('c2'), result('c2')])
  assert.equal(done, ['› How many days?', ''])
  assert.equal(live.length, 2)
  assert.match(live[0] ?? '', /^ {2}\S search query: leave · 4\.0 s$/)
  assert.match(live[1] ?? '', /✓ search/)
  assert.equal(printActions([said, call('c1'), call('c2'), result('c2'), result('c1')]).done.length, 4, 'tool calls are not separated')
})

test('tool results are shown on one line, or in full with details', () => {
  const actions = [said, call('c1', 'fetch', {}), result('c1', { result: { status: 200, items: [1, 2] } }), delta('x')]
  assert.equal(printActions(actions).done.slice(2, 4), ['  ✓ search · 0.3 s', '    → {"status":200,"items":[1,2]}'])
  assert.ok(printActions(actions, { ...VIEW, details: true }).done.some((each) => each.includes('"status": 200')))
  assert.match(
    printActions([said, call('c1'), result('c1', { error: 'No such host.' }), delta('x')]).done.join('\n'),
    /✗ search.*\n {4}→ No such host\./,
  )
})

test('a failed or stopped reply shows its status and the retry key', () => {
  const ends = (action: TranscriptAction) =>
    printActions([said, delta('Hel'), action])
      .done.slice(3)
      .filter(Boolean)
  const failed: TranscriptAction = {
    kind: 'event',
    at: 0,
    event: { event: 'error', data: { error: 'Overloaded.', code: 'PROVIDER_ERROR', hint: 'Wait.' } },
  }
  assert.equal(ends(failed), ['  ✗ Overloaded.', '  Wait.', '  To retry: /retry'])
  const { code, message, hint } = createInterruptedError()
  const stopped = ends({ kind: 'event', at: 0, event: { event: 'error', data: { error: message, code, ...(hint ? { hint } : {}) } } })
  assert.equal(stopped.slice(-2), ['  text so far is stored.', '  To retry: /retry'], 'not how other clients retry')
  assert.equal(ends({ kind: 'ended', status: 'aborted' }), ['  ■ stopped'])
  assert.match(ends({ kind: 'ended', status: 'interrupted' }).join(), /interrupted.*\/retry/)
  assert.match(ends(end({ content: 'Hel', finish_reason: 'length' })).join(), 'maximum length')
})

test('a stored text that differs from the streamed one is shown', () => {
  assert.ok(printActions([said, delta('Wrong words.\n\nMore'), end({ content: 'Right words.' })]).done.includes('  Right words.'))
})

test('a note during a reply does not split it', () => {
  const { done } = printActions([
    said,
    delta('One.\n\nTwo'),
    { kind: 'noted', text: 'Saved.' },
    delta(' goes on.'),
    end({ content: 'One.\n\nTwo goes on.' }),
  ])
  assert.equal(done.filter(Boolean), ['› How many days?', '  One.', '  Saved.', '  Two goes on.'])
})

test('long user messages are truncated', () => {
  const { done } = printActions([{ kind: 'said', text: Array.from({ length: 50 }, (_, index) => `line ${index}`).join('\n') }])
  assert.equal([done.length, done.at(-2)], [18, '  … 34 more lines'])
})

test.run()
