/** The sources panel: where passages open, and scrolling. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toPlainText } from '../../../src/cli/terminal/markdown/styled-text.ts'
import { UnreachableError } from '../../../src/client/errors.ts'
import type { Citation } from '../../../src/contract/schemas/messages.ts'
import { handleKey } from '../../../src/tui/handle-key.ts'
import { KeyDecoder } from '../../../src/tui/input/key-decoder.ts'
import { renderLiveArea } from '../../../src/tui/render/live-area.ts'
import { ChatSession } from '../../../src/tui/session/chat-session.ts'
import type { TerminalSize } from '../../../src/tui/state/chat-state.ts'
import { ChatStore } from '../../../src/tui/state/chat-store.ts'
import { FAKE_TERMINAL } from '../fake-terminal.ts'

const test = suite('sources panel')

const ESC = '\u001b'
const [UP, DOWN, PAGE_UP, PAGE_DOWN, SHIFT_TAB, CTRL_O] = [`${ESC}[A`, `${ESC}[B`, `${ESC}[5~`, `${ESC}[6~`, `${ESC}[Z`, '\u000f']

const QUOTED = 'Whoever is on call acknowledges within five minutes.'
const filler = (from: number) =>
  Array.from({ length: 40 }, (_, index) => `Paragraph ${from + index} is of the rota\nand its weekends.`).join('\n\n')
const HANDBOOK = `# On call\n\n${filler(1)}\n\n${QUOTED}\n\n${filler(41)}`

const citation = (index: number, fields: Partial<Citation> = {}): Citation => ({
  index,
  source: `handbook-${index}.md`,
  page: 1,
  document_id: 'd',
  content: HANDBOOK,
  score: 1,
  cited: true,
  ...fields,
})

function openChat(
  content: string,
  citations: Citation[],
  size: TerminalSize = { columns: 80, rows: 24 },
  question = 'How fast must I acknowledge a page?',
) {
  const store = new ChatStore(
    () => {},
    () => 0,
  )
  const connect = () => Promise.reject(new UnreachableError('The service is not reachable.'))
  const session = new ChatSession({ store, connect, isPlain: false, cwd: '.', quit: () => {}, terminal: FAKE_TERMINAL })
  store.update({ agent: { id: 'agent_1', name: 'Guide' }, size })
  store.dispatch({ kind: 'said', text: question })
  const message = { id: 'msg_2', role: 'assistant' as const, content, timestamp: '', finish_reason: 'stop' as const, citations }
  store.dispatch({ kind: 'event', at: 0, event: { event: 'message_end', data: { message } } })
  const type = (...chunks: string[]) => {
    for (const chunk of chunks) {
      const decoder = new KeyDecoder()
      for (const key of [...decoder.push(chunk), ...decoder.flush()]) handleKey(session, key)
    }
  }
  const lines = () => renderLiveArea(store.state, []).lines.map(toPlainText)
  return { store, type, lines, passage: () => lines().filter((each) => /^ {4}[│…]/.test(each)) }
}

test('a passage opens at the quoted sentence and marks omitted lines', () => {
  for (const size of [
    { columns: 40, rows: 24 },
    { columns: 80, rows: 24 },
    { columns: 200, rows: 40 },
  ]) {
    const { type, passage } = openChat(`${QUOTED} [1]`, [citation(1)], size)
    type(CTRL_O)
    const shown = passage()
    assert.match(shown.map((each) => each.slice(6)).join(' '), QUOTED, `${size.columns} columns`)
    assert.match(shown[0] ?? '', '    … Whoever is on call')
    assert.equal([shown[0]?.slice(4, 6), shown[1]?.slice(4, 6), shown.at(-1)?.slice(4, 6)], ['… ', '│ ', '… '])
  }
})

test('a passage opens at the words of the citing sentence if the question does not occur in it', () => {
  const other = `${filler(1)}\n\nHotels cost at most 120 euros.\n\n${filler(41)}`
  const { type, passage } = openChat(
    `Five minutes: on call, acknowledges. [1] A hotel is 120 euros at most [2].`,
    [citation(1), citation(2, { content: other })],
    undefined,
    'And?',
  )
  type(CTRL_O)
  assert.match(passage().join('\n'), QUOTED)
  type('\t')
  assert.match(passage().join('\n'), 'Hotels cost')
  type(SHIFT_TAB)
  assert.match(passage().join('\n'), QUOTED)
})

test('a passage scrolls by lines and pages within its bounds', () => {
  const { type, passage, lines } = openChat(`${QUOTED} [1]`, [citation(1)])
  type(CTRL_O)
  assert.ok(lines().includes('  Sources  ↑↓ scroll · Esc close'))
  const opened = passage().map((each) => each.slice(6))
  type(DOWN)
  assert.is(passage()[0]?.slice(6), opened[1])
  type(UP)
  assert.equal(
    passage().map((each) => each.slice(6)),
    opened,
  )
  type(PAGE_DOWN)
  assert.is(passage()[0]?.slice(6), opened.at(-1), 'a page keeps one line')
  type(...Array<string>(50).fill(PAGE_DOWN))
  assert.equal(
    passage()
      .slice(-2)
      .map((each) => each.trimEnd()),
    ['    │ Paragraph 80 is of the rota', '    │ and its weekends.'],
  )
  type(UP)
  assert.is(passage().at(-1), '    … Paragraph 80 is of the rota', 'scrolling past the end has no effect')
  type(...Array<string>(50).fill(PAGE_UP))
  assert.is(passage()[0], '    │ # On call')
})

test('a short passage is shown in full and does not scroll', () => {
  const { type, passage, lines } = openChat('Trains. [1]', [citation(1, { content: 'Cars are not.\nTrains are booked.' })])
  type(CTRL_O, DOWN, PAGE_DOWN)
  assert.equal(passage(), ['    │ Cars are not.', '    │ Trains are booked.'])
  assert.ok(lines().includes('  Sources  Esc close'))
})

test('key hints that do not fit are omitted', () => {
  const { type, lines } = openChat(`${QUOTED} [1] [2]`, [citation(1), citation(2)], { columns: 40, rows: 24 })
  type(CTRL_O)
  assert.ok(lines().includes('  Sources  ↑↓ scroll · Tab next'))
})

test('the completion menu gets the keys while the panel is open', () => {
  const { type, store } = openChat(`${QUOTED} [1] [2]`, [citation(1), citation(2)])
  type(CTRL_O, '/he', '\t')
  assert.equal([store.state.editor.text.trim(), store.state.panel?.kind === 'sources' && store.state.panel.selected], ['/help', 0])
})

test.run()
