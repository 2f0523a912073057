/** Scrollback, live area, panels and status line within the width and height of the terminal. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stringWidth } from '../../../src/cli/terminal/text.ts'
import { EMPTY_EDITOR, setText } from '../../../src/tui/input/editor.ts'
import { type Line, toPlainText } from '../../../src/tui/markdown/styled-text.ts'
import { FrameBuilder } from '../../../src/tui/render/frame-builder.ts'
import { renderLiveArea } from '../../../src/tui/render/live-area.ts'
import { advanceScrollback, EMPTY_SCROLLBACK, renderTail, type ScrollbackState } from '../../../src/tui/render/scrollback.ts'
import { renderStatusLine } from '../../../src/tui/render/status-line.ts'
import { type ChatState, INITIAL_STATE, type SourceCitation } from '../../../src/tui/state/chat-state.ts'
import type { Message } from '../../../src/tui/state/reply-reducer.ts'
import { EMPTY_TRANSCRIPT, reduceTranscript, type Transcript, type TranscriptAction } from '../../../src/tui/state/transcript-reducer.ts'

const test = suite('live area')

const VIEW = { columns: 60, now: 5000, details: false }
const texts = (lines: readonly Line[]) => lines.map(toPlainText)
const delta = (text: string): TranscriptAction => ({ kind: 'event', at: 0, event: { event: 'message_delta', data: { text } } })
const call = (id: string, name = 'search', given: Record<string, unknown> = { query: 'leave' }): TranscriptAction => ({
  kind: 'event',
  at: 1000,
  event: { event: 'tool_call', data: { id, name, arguments: given } },
})
const result = (id: string, fields: object = {}): TranscriptAction => ({
  kind: 'event',
  at: 2000,
  event: { event: 'tool_result', data: { id, name: 'search', latency_ms: 300, ...fields } },
})
const end = (fields: Partial<Message>): TranscriptAction => ({
  kind: 'event',
  at: 0,
  event: {
    event: 'message_end',
    data: { message: { id: 'msg_2', role: 'assistant', content: '', timestamp: '', finish_reason: 'stop', ...fields } },
  },
})
const citation = (index: number, fields: Partial<SourceCitation> = {}): SourceCitation => ({
  index,
  source: 'leave.md',
  page: 3,
  document_id: 'd',
  content: 'Twenty-five days of paid leave.\nThey end in March.',
  score: 1,
  cited: true,
  quoteContext: '',
  ...fields,
})
const said: TranscriptAction = { kind: 'said', text: 'How many days?' }
const after = (...happenings: TranscriptAction[]): Transcript => happenings.reduce(reduceTranscript, EMPTY_TRANSCRIPT)
const state = (fields: Partial<ChatState> = {}): ChatState => ({
  ...INITIAL_STATE,
  agent: { id: 'agent_1', name: 'Guide' },
  model: { id: 'm', name: 'llama', contextWindow: null, onlyQuotes: false },
  ...fields,
})

/** Everything printed when the happenings come one at a time, and what is alive in the end. */
function printed(happenings: readonly TranscriptAction[], view = VIEW): { done: string[]; live: string[] } {
  let [feed, transcript]: [ScrollbackState, Transcript] = [EMPTY_SCROLLBACK, EMPTY_TRANSCRIPT]
  const done: string[] = []
  let live: string[] = []
  for (const happening of happenings) {
    transcript = reduceTranscript(transcript, happening)
    const next = advanceScrollback(feed, transcript, view)
    feed = next.state
    done.push(...texts(next.done))
    live = texts(next.live)
  }
  return { done, live }
}

const TALK = [
  said,
  delta('Let me '),
  delta('look.'),
  call('c1'),
  result('c1', { citations: [citation(1)] }),
  delta('You have **25** days [1].\n\nEnjoy'),
  delta(' them.'),
]

test('complete lines are printed once and in order, unfinished ones are live', () => {
  assert.equal(printed(TALK), {
    done: ['› How many days?', '', '  Let me look.', '', '  ✓ search query: leave · 0.3 s · 1 passage', '', '  You have 25 days [1].'],
    live: ['', '  Enjoy them.'],
  })
  const content = 'Let me look.You have **25** days [1].\n\nEnjoy them.'
  assert.equal(printed([...TALK, end({ content, citations: [citation(1)] })]).done.slice(-5), [
    '',
    '  Enjoy them.',
    '',
    '  [1] leave.md,\u00a0p.\u00a03',
    '',
  ])
  const second = { content: 'Enjoy them. [2]', citations: [citation(1, { cited: false }), citation(2)] }
  assert.match(printed([...TALK, end(second)]).done.join('\n'), '  [2] leave.md,\u00a0p.\u00a03\n  [1] was also found but is not cited.')
})

test('the output does not depend on the number of updates', () => {
  const all = [...TALK, end({ content: 'Let me look.You have **25** days [1].\n\nEnjoy them.' })]
  assert.equal(texts(advanceScrollback(EMPTY_SCROLLBACK, after(...all), VIEW).done), printed(all).done)
})

test('a running tool call shows its duration and holds back the following parts', () => {
  const { done, live } = printed([said, call('c1'), call('c2'), result('c2')])
  assert.equal(done, ['› How many days?', ''])
  assert.equal(live.length, 2)
  assert.match(live[0] ?? '', /^ {2}\S search query: leave · 4\.0 s$/)
  assert.match(live[1] ?? '', /✓ search/)
  assert.equal(printed([said, call('c1'), call('c2'), result('c2'), result('c1')]).done.length, 4, 'calls stand together')
})

test('tool results are shown on one line, or in full with details', () => {
  const happenings = [said, call('c1', 'fetch', {}), result('c1', { result: { status: 200, items: [1, 2] } }), delta('x')]
  assert.equal(printed(happenings).done.slice(2, 4), ['  ✓ search · 0.3 s', '    → {"status":200,"items":[1,2]}'])
  assert.ok(printed(happenings, { ...VIEW, details: true }).done.some((each) => each.includes('"status": 200')))
  assert.match(
    printed([said, call('c1'), result('c1', { error: 'No such host.' }), delta('x')]).done.join('\n'),
    /✗ search.*\n {4}→ No such host\./,
  )
})

test('a failed or stopped reply shows its status and the retry key', () => {
  const ends = (happening: TranscriptAction) =>
    printed([said, delta('Hel'), happening])
      .done.slice(3)
      .filter(Boolean)
  const failed: TranscriptAction = {
    kind: 'event',
    at: 0,
    event: { event: 'error', data: { error: 'Overloaded.', code: 'PROVIDER_ERROR', hint: 'Wait.' } },
  }
  assert.equal(ends(failed), ['  ✗ Overloaded.', '  Wait.', '  Press Ctrl+R to retry.'])
  assert.equal(ends({ kind: 'ended', status: 'aborted' }), ['  ■ stopped'])
  assert.match(ends({ kind: 'ended', status: 'interrupted' }).join(), /interrupted.*Ctrl\+R/)
  assert.match(ends(end({ content: 'Hel', finish_reason: 'length' })).join(), 'maximum length')
})

test('a stored text that differs from the streamed one is shown', () => {
  assert.ok(printed([said, delta('Wrong words.\n\nMore'), end({ content: 'Right words.' })]).done.includes('  Right words.'))
})

test('a note during a reply does not split it', () => {
  const { done } = printed([
    said,
    delta('One.\n\nTwo'),
    { kind: 'noted', text: 'Saved.' },
    delta(' goes on.'),
    end({ content: 'One.\n\nTwo goes on.' }),
  ])
  assert.equal(done.filter(Boolean), ['› How many days?', '  One.', '  Saved.', '  Two goes on.'])
})

test('long user messages are truncated', () => {
  const { done } = printed([{ kind: 'said', text: Array.from({ length: 50 }, (_, index) => `line ${index}`).join('\n') }])
  assert.equal([done.length, done.at(-2)], [18, '  … 34 more lines'])
})

test('a redraw shows the end of the conversation that fits the screen', () => {
  const many = Array.from({ length: 100 }, (_, index): TranscriptAction[] => [
    { kind: 'said', text: `question ${index}` },
    delta('a'),
    end({ id: `m${index}`, content: 'a' }),
  ])
  const { done, state: feed } = renderTail(after(...many.flat()), VIEW, 10)
  assert.equal([done.length, feed.entries], [10, 200])
  assert.ok(texts(done).includes('› question 99'))
})

test('the live area fits the terminal with any panel open', () => {
  const citations = Array.from({ length: 30 }, (_, index) => citation(index + 1, { content: '很长的一段话。'.repeat(50) }))
  const choices = Array.from({ length: 60 }, (_, index) => ({ id: `${index}`, label: `Agent ${index} 日本語`, note: 'x'.repeat(100) }))
  const options = Array.from({ length: 40 }, (_, index) => ({ value: `v${index}`, label: `label ${index}`, note: '', hasMore: false }))
  const live = Array.from({ length: 200 }, (_, index): Line => [{ text: `  live ${index} ${'w'.repeat(200)}`, styles: [] }])
  const asks = after(said, call('c1', 'delete', { id: 'y'.repeat(4000) }), {
    kind: 'event',
    at: 0,
    event: { event: 'confirmation_required', data: { id: 'c1', name: 'delete', arguments: { id: 'y'.repeat(4000) } } },
  })
  const open: Partial<ChatState>[] = [
    {},
    { panel: { kind: 'sources', title: 'Sources', citations, selected: 20, top: undefined } },
    { panel: { kind: 'picker', target: 'agent', title: 'Agents', choices, filter: '', selected: 50 } },
    { menu: { completion: { kind: 'command', from: 0, to: 1, options }, selected: 30 } },
    { transcript: asks, now: 9000 },
    { editor: setText(EMPTY_EDITOR, 'long text '.repeat(500)), files: ['a.md'] },
    { transcript: after(said), connectionProblem: 'Nothing answers.', hint: undefined },
  ]
  for (const rows of [6, 8, 12, 24, 50])
    for (const columns of [20, 40, 80, 200])
      for (const fields of open) {
        const { lines, cursor } = renderLiveArea(state({ ...fields, size: { rows, columns } }), live)
        assert.ok(lines.length < rows, `${lines.length} lines in ${rows} rows: ${JSON.stringify(Object.keys(fields))}`)
        for (const each of texts(lines)) assert.ok(stringWidth(each) <= columns, `${columns}: ${each}`)
        if (cursor) assert.ok(cursor.x < columns && cursor.y < lines.length)
      }
})

test('the cursor follows wide characters', () => {
  const { lines, cursor } = renderLiveArea(state({ editor: setText(EMPTY_EDITOR, '日本👍🏽') }), [])
  assert.equal([cursor?.x, texts(lines)[cursor?.y ?? -1]], [8, '› 日本👍🏽'])
})

test('a picker shows the filtered choices and the selection', () => {
  const choices = ['Ada', 'Alan', 'Grace'].map((label) => ({ id: label, label, note: 'note' }))
  const { lines, cursor } = renderLiveArea(
    state({ panel: { kind: 'picker', target: 'agent', title: 'Agents', choices, filter: 'a', selected: 1 } }),
    [],
  )
  assert.equal(texts(lines).slice(0, 4), ['  Agents  a', '  Ada    note', '› Alan   note', '  Grace  note'])
  assert.is(cursor, undefined)
})

test('the sources panel shows names, pages and the selected passage', () => {
  const panel = {
    kind: 'sources' as const,
    title: 'Sources',
    citations: [citation(1), citation(4, { source: 'travel.md', cited: false, stale: true, content: 'By train.' })],
    selected: 1,
    top: undefined,
  }
  const lines = texts(renderLiveArea(state({ panel }), []).lines)
  assert.equal(lines.slice(1, 4), ['  [1] leave.md, page 3', '› [4] travel.md, page 3 (not cited, changed since)', '    │ By train.'])
})

test('a confirmation shows its keys after a delay, with Ctrl if the input is not empty', () => {
  const asks = after(said, {
    kind: 'event',
    at: 0,
    event: { event: 'confirmation_required', data: { id: 'c1', name: 'delete_user', arguments: { id: 4 } } },
  })
  const lines = (fields: Partial<ChatState>) => texts(renderLiveArea(state({ transcript: asks, ...fields }), []).lines).join('\n')
  assert.match(lines({ now: 5000, waitingSince: 4000 }), /delete_user wants to run with id: 4\n {4}Allow\? y yes · n no/)
  assert.not.match(lines({ now: 5000, waitingSince: 4900 }), 'y yes')
  assert.match(lines({ now: 5000, waitingSince: 4000, editor: setText(EMPTY_EDITOR, 'x') }), 'Ctrl+Y yes')
})

test('the status line drops the least important facts if it is narrow', () => {
  const transcript = after(said, end({ usage: { input_tokens: 1000, output_tokens: 440, total_tokens: 1440 }, cost: 0.0021 }))
  const status = (columns: number, fields: Partial<ChatState> = {}) =>
    toPlainText(renderStatusLine(state({ transcript, size: { columns, rows: 24 }, ...fields })))
  assert.is(status(80), '  Guide · llama · 1.4k tokens · cost 0.0021 · context 1.4k · /quit')
  assert.is(status(40), '  Guide · llama · cost 0.0021 · /quit', 'how to leave is seen after a reply, too')
  assert.is(status(34), '  Guide · llama · cost 0.0021')
  assert.is(status(40, { hint: 'Ctrl+C again leaves.' }), '  Ctrl+C again leaves.')
  assert.match(status(80, { connectionProblem: 'Nothing answers.' }), '  Nothing answers. · Guide')
  assert.match(status(80, { model: { id: 'm', name: 'llama', contextWindow: 4096, onlyQuotes: false } }), 'context 35 %')
  const anew = reduceTranscript(transcript, { kind: 'noted', text: 'A new conversation begins.', startsConversation: true })
  assert.is(status(80, { transcript: anew }), '  Guide · llama · /help · /quit', 'another conversation is counted anew')
  const unknown = after(said, end({ usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 }, cost: null }))
  assert.match(toPlainText(renderStatusLine(state({ transcript: unknown }))), 'cost unknown')
})

test('external text cannot send control characters to the terminal', () => {
  const evil = '\u001b[2J\u001b]0;x\u0007\u009b31m\u202eevil\r\n\u0007'
  const transcript = after(
    { kind: 'said', text: evil },
    delta(evil),
    call('c1', evil, { [evil]: evil }),
    result('c1', { name: evil, result: evil, error: evil }),
    call('c2', evil, { a: evil }),
    { kind: 'event', at: 0, event: { event: 'confirmation_required', data: { id: 'c2', name: evil, arguments: { evil } } } },
    { kind: 'noted', text: evil },
  )
  const panel = {
    kind: 'sources' as const,
    title: 'Sources',
    citations: [citation(1, { source: evil, content: evil })],
    selected: 0,
    top: undefined,
  }
  const picker = {
    kind: 'picker' as const,
    target: 'agent' as const,
    title: 'Agents',
    choices: [{ id: 'a', label: evil, note: evil }],
    filter: '',
    selected: 0,
  }
  const fields = {
    agent: { id: 'a', name: evil },
    model: { id: 'm', name: evil, contextWindow: null, onlyQuotes: false },
    conversation: { id: 'c', title: evil },
    connectionProblem: evil,
    files: [evil],
    editor: setText(EMPTY_EDITOR, evil),
  }
  for (const colors of [true, false])
    for (const more of [
      { transcript },
      { panel },
      { panel: picker },
      { hint: evil },
      {
        transcript: reduceTranscript(transcript, end({ error: evil, finish_reason: 'error', citations: [citation(1, { source: evil })] })),
      },
    ]) {
      const { history, lines } = new FrameBuilder(colors).build(state({ ...fields, ...more }))
      for (const each of [...history, ...lines])
        assert.not.match(
          each.replaceAll(/\u001b\[\d+(;\d+)*m/g, ''),
          /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
          JSON.stringify(each),
        )
    }
})

test('without colors there are no escape sequences', () => {
  const { history, lines } = new FrameBuilder(false).build(state({ transcript: after(...TALK) }))
  assert.not.match([...history, ...lines].join('\n'), '\u001b')
})

test.run()
