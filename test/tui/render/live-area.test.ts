/** Scrollback, live area, panels and status line within the width and height of the terminal. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Line, toPlainText } from '../../../src/cli/terminal/markdown/styled-text.ts'
import { stringWidth } from '../../../src/cli/terminal/text.ts'
import { EMPTY_EDITOR, setText } from '../../../src/tui/input/line-editor.ts'
import { FrameBuilder } from '../../../src/tui/render/frame-builder.ts'
import { renderLiveArea } from '../../../src/tui/render/live-area.ts'
import { renderStatusLine } from '../../../src/tui/render/status-line.ts'
import type { ChatState } from '../../../src/tui/state/chat-state.ts'
import { reduceTranscript } from '../../../src/tui/state/transcript-reducer.ts'

import { after, call, citation, delta, end, result, said, state, TALK, texts } from './transcript-fixture.ts'

const test = suite('live area')

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
    { transcript: after(said), queue: Array.from({ length: 9 }, () => ({ text: '很长的一段话。'.repeat(50), message: '', images: [] })) },
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
  assert.equal(texts(lines).slice(0, 4), ['  Agents  a · Enter select · Esc close', '  Ada    note', '› Alan   note', '  Grace  note'])
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
    event: {
      event: 'confirmation_required',
      data: { id: 'c1', name: 'delete_user', arguments: { id: 4 }, method: 'DELETE', url: 'https://example.com/users/4' },
    },
  })
  const lines = (fields: Partial<ChatState>) => texts(renderLiveArea(state({ transcript: asks, ...fields }), []).lines).join('\n')
  assert.match(
    lines({ now: 5000, waitingSince: 4000 }),
    /delete_user wants to run with id: 4\n {4}DELETE https:\/\/example\.com\/users\/4\n {4}Allow\? y.yes · n.no · [\s\S]*e.edit/,
  )
  assert.not.match(lines({ now: 5000, waitingSince: 4900 }), /y.yes/)
  assert.match(lines({ now: 5000, waitingSince: 4000, editor: setText(EMPTY_EDITOR, 'x') }), /Ctrl\+Y.yes/)
  const always = (scope: 'agent' | 'all') => lines({ unconfirmedPermission: { tool: 'c1', scope, letter: 'a' } })
  assert.match(always('agent'), /\n {4}Always allow delete_user with Guide\? Enter.confirms · Esc.goes.back\n/)
  assert.match(always('all'), /\n {4}Always allow delete_user with all agents\? Enter.confirms/)
  const editedArguments = { tool: 'c1', values: { id: 5 }, request: { method: 'DELETE', url: 'https://example.com/users/5' } }
  assert.match(lines({ editedArguments }), /with id: 5 \(changed\)\n {4}DELETE https:\/\/example\.com\/users\/5\n/)
  const url = `https://example.com/${'u'.repeat(100)}/end`
  const long = { tool: 'c1', values: { note: 'long '.repeat(1000) }, request: { method: 'DELETE', url } }
  const shown = lines({ editedArguments: long, size: { columns: 60, rows: 16 } }).replaceAll(/\n {4}/g, '')
  assert.match(shown, /wants to run with note: long[\s\S]*…DELETE/, 'long arguments are cut')
  assert.ok(shown.includes(url), 'the URL is wrapped, not cut')
})

test('a spinner and the key that stops the reply are visible until it ends', () => {
  const activity = (...actions: Parameters<typeof after>) =>
    texts(renderLiveArea(state({ transcript: after(...actions) }), []).lines).filter((each) => each.includes('Esc to stop'))
  assert.match(activity(said).join(), /thinking · Esc to stop/)
  assert.match(activity(said, delta('One. Tw')).join(), /writing · Esc to stop/)
  assert.match(activity(said, call('c1', 'look', {})).join(), /waiting for the tool · Esc to stop/)
  assert.equal(activity(said, delta('One.'), end({ content: 'One.' })), [])
})

test('queued messages are shown above the input', () => {
  const queue = ['one', 'two', 'three', 'four'].map((text) => ({ text, message: text, images: [] }))
  const lines = texts(renderLiveArea(state({ transcript: after(said), queue }), []).lines)
  const first = lines.indexOf('  ⏎ one')
  assert.equal(lines.slice(first, first + 4), [
    '  ⏎ one',
    '  ⏎ two',
    '  ⏎ three',
    '    and 1 more, sent after the reply · ↑ edits the last one',
  ])
})

test('the status line drops the least important facts if it is narrow', () => {
  const transcript = after(
    said,
    end({ usage: { input_tokens: 1000, output_tokens: 440, total_tokens: 1440 }, context_tokens: 1440, cost: 0.0021 }),
  )
  const status = (columns: number, fields: Partial<ChatState> = {}) =>
    toPlainText(renderStatusLine(state({ transcript, size: { columns, rows: 24 }, ...fields })))
  assert.is(status(80), '  Guide · llama · 1.4k tokens · cost 0.0021 USD · context 1.4k · /quit')
  assert.is(status(41), '  Guide · llama · cost 0.0021 USD · /quit', 'the quit hint is also shown after a reply')
  assert.is(status(34), '  Guide · llama · cost 0.0021 USD')
  assert.is(status(40, { hint: 'Ctrl+C again leaves.' }), '  Ctrl+C again leaves.')
  assert.is(status(80, { replacesLast: true }), '  Enter replaces your last message and its reply. Esc cancels.')
  assert.is(status(80, { replacesLast: true, hint: 'Cleared.' }), '  Cleared.')
  assert.match(status(80, { connectionProblem: 'Nothing answers.' }), '  Nothing answers. · Guide')
  assert.match(status(80, { model: { name: 'llama', contextWindow: 4096, onlyQuotes: false } }), 'context 35 %')
  const anew = reduceTranscript(transcript, { kind: 'noted', text: 'A new conversation begins.', startsConversation: true })
  assert.is(status(80, { transcript: anew }), '  Guide · llama · /help · /quit', 'a new conversation starts at zero')
  const unknown = after(said, end({ usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 }, cost: null }))
  assert.match(toPlainText(renderStatusLine(state({ transcript: unknown }))), 'cost unknown')
})

test('the status line of a resumed conversation counts the messages that are not shown, and no part of them', () => {
  const transcript = after(
    said,
    end({ usage: { input_tokens: 1000, output_tokens: 440, total_tokens: 1440 }, context_tokens: 1440, cost: 0.02 }),
  )
  const status = (earlierUsage: ChatState['earlierUsage']) => toPlainText(renderStatusLine(state({ transcript, earlierUsage })))
  const totals = { tokens: 43_560, estimated: true, cost: 0.09, contextTokens: 900 }
  assert.is(status({ totals }), '  Guide · llama · about 45k tokens · cost 0.11 USD · context 1.4k · /quit')
  assert.match(status({ totals: { ...totals, cost: null } }), 'cost unknown')
  assert.is(status({}), '  Guide · llama · context 1.4k · /quit', 'not counted yet')
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
    model: { name: evil, contextWindow: null, onlyQuotes: false },
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
