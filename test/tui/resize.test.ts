/** The chat in a terminal that is resized: with a real daemon, and frames that the terminal draws before the chat learns its size. */
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatScreen } from '../../src/tui/chat-screen.tsx'
import { EMPTY_EDITOR, setText } from '../../src/tui/input/line-editor.ts'
import { ChatStore } from '../../src/tui/state/chat-store.ts'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { reportFailure } from '../harness/hooks.ts'
import { streamReply } from '../harness/scripted-provider.ts'
import { hasTmux, type TmuxTerminal } from '../harness/tmux-terminal.ts'
import { delta, end, state } from './render/transcript-fixture.ts'
import { TmuxPane } from './tmux-pane.ts'

const test = suite('resizing the chat')
/** Skipped on machines without tmux. */
const atTerminal = hasTmux ? test : test.skip
let fixture: ChatFixture

test.before(
  reportFailure(async () => {
    fixture = await ChatFixture.open()
    await fixture.createAgent('Guide')
  }),
)
test.after(reportFailure(() => fixture.close()))

const COUNT = 60
const LINES = Array.from({ length: COUNT }, (_, index) => `This is line ${index + 1} of a reply that streams.\n\n`)
const WORDS = Array.from({ length: 300 }, (_, index) => `word${index + 1} `)
const ITEMS = Array.from(
  { length: 40 },
  (_, index) => `${index + 1}. This is item ${index + 1} of a list, which is long enough to be wrapped.\n`,
)

async function startReply(columns: number, text = ['Before the lines.\n\n', ...LINES], interval = 40): Promise<TmuxTerminal> {
  fixture.script(streamReply({ text }, interval))
  const terminal = fixture.openChat({ agent: 'Guide', columns })
  await terminal.waitFor(/Ask Guide/)
  terminal.type('Write')
  return terminal
}

/** Waits until this line, item or word of the reply, or a later one, is visible. */
const waitForNumber = (terminal: TmuxTerminal, number: number, pattern = /line (\d+) of/g) =>
  terminal.waitFor((screen) => [...screen.matchAll(pattern)].some(([, found]) => Number(found) >= number), `${pattern.source} ${number}`)

/** Makes the window narrower in steps, faster than tmux reports them to the program. */
async function dragNarrower(terminal: TmuxTerminal, from: number, to: number): Promise<void> {
  for (let columns = from; columns >= to; columns -= 4) {
    terminal.resize(columns, 24)
    await pause(20)
  }
}

/** Asserts that the numbers from 1 to `count` are there once and in this order. tmux may break a word at the end of a row. */
function assertNumbers(terminal: TmuxTerminal, pattern: RegExp, count: number): void {
  const screen = terminal.readAll()
  const found = Array.from(screen.replaceAll(/\s+/g, '').matchAll(pattern), ([, number]) => Number(number))
  const expected = Array.from({ length: count }, (_, index) => index + 1)
  assert.equal(found, expected, screen)
}

function assertEachLineOnce(terminal: TmuxTerminal): void {
  assertNumbers(terminal, /Thisisline(\d+)ofareply/g, COUNT)
  const screen = terminal.readAll()
  assert.is(screen.match(/─{5,}/g)?.length, 1, screen)
  assert.not.match(screen, /\n *\n *\n/, 'no further empty rows')
  assert.is(screen.match(/^› Write$/gm)?.length, 1, screen)
}

atTerminal('resizing during a reply neither repeats nor loses lines', async () => {
  const terminal = await startReply(90)
  for (const [line, columns, rows] of [
    [5, 60, 24],
    [12, 44, 20],
    [20, 120, 30],
    [30, 100, 12],
    [40, 70, 24],
  ] as const) {
    await waitForNumber(terminal, line)
    terminal.resize(columns, rows)
  }
  await terminal.waitFor(new RegExp(`line ${COUNT} of[\\s\\S]*tokens`))
  assertEachLineOnce(terminal)
})

atTerminal('narrowing the window step by step during a reply and after it leaves nothing of earlier drawings', async () => {
  const terminal = await startReply(96)
  await waitForNumber(terminal, 8)
  await dragNarrower(terminal, 92, 60)
  await terminal.waitFor(new RegExp(`line ${COUNT} of[\\s\\S]*tokens`))
  assertEachLineOnce(terminal)
  const countLines = () => terminal.readAll().split('\n').length
  const before = countLines()
  await dragNarrower(terminal, 58, 46)
  await terminal.waitFor(/^─{46}\n› Ask Guide\n/m)
  assertEachLineOnce(terminal)
  assert.is(countLines(), before, `no further lines:\n${terminal.readAll()}`)
})

atTerminal('narrowing a window that is not full repeats nothing', async () => {
  const terminal = await startReply(200)
  await waitForNumber(terminal, 7)
  terminal.resize(30, 24)
  await waitForNumber(terminal, 20)
  terminal.resize(120, 40)
  await terminal.waitFor(new RegExp(`line ${COUNT} of[\\s\\S]*tokens`))
  assertEachLineOnce(terminal)
})

atTerminal('a list and a paragraph go on where they were', async () => {
  const terminal = await startReply(100, [...ITEMS, '\n', ...WORDS], 10)
  for (const [number, columns, pattern] of [
    [15, 30, /item (\d+) of/g],
    [30, 100, /item (\d+) of/g],
    [100, 40, /word(\d+)/g],
    [200, 70, /word(\d+)/g],
  ] as const) {
    await waitForNumber(terminal, number, pattern)
    terminal.resize(columns, 24)
  }
  await terminal.waitFor(/word300\n[\s\S]*tokens/)
  assertNumbers(terminal, /Thisisitem(\d+)of/g, ITEMS.length)
  assertNumbers(terminal, /word(\d+)/g, WORDS.length)
})

/** A chat in this process that draws a frame for each change. */
async function openScreen(columns: number) {
  const size = { columns, rows: 24 }
  const pane = await TmuxPane.open(size)
  let screen: ChatScreen | undefined
  const store = new ChatStore(
    () => screen?.update(),
    () => 0,
    state({ size }),
  )
  screen = new ChatScreen({ store, colors: true, rewrapping: 'tmux', input: pane.input, output: pane.output, onKey: () => {} })
  const draw = async (change: () => void) => {
    const frame = pane.nextFrame()
    change()
    await frame
  }
  await draw(() => screen.open())
  return {
    pane,
    store,
    draw,
    async close() {
      await screen.close()
      await pane.close()
    },
  }
}

interface Streamed {
  pieces: readonly string[]
  widths: readonly number[]
  /** What the chat shows before the reply. */
  before?: string
}

/** Streams a reply, and resizes the terminal several times: the chat learns each width some frames later. */
async function streamWhileResizing({ pieces, widths, before }: Streamed, check: (terminal: TmuxTerminal) => void): Promise<void> {
  const { pane, store, draw, close } = await openScreen(100)
  try {
    if (before !== undefined) await draw(() => store.addNote(before))
    await draw(() => store.dispatch({ kind: 'said', text: 'Write' }))
    await draw(() => store.update({ editor: setText(EMPTY_EDITOR, 'A draft that is long enough for two rows in forty columns') }))
    const remaining = [...pieces]
    const share = Math.floor(pieces.length / (2 * widths.length + 1))
    const write = async (count: number) => {
      for (const piece of remaining.splice(0, count)) await draw(() => store.dispatch(delta(piece)))
      await pane.drawn()
    }
    await write(share)
    for (const columns of widths) {
      pane.terminal.resize(columns, 24)
      await write(share)
      await pane.reportSize({ columns, rows: 24 })
      await write(share)
    }
    await write(remaining.length)
    await draw(() => store.dispatch(end({ content: pieces.join('') })))
    await pane.drawn()
    check(pane.terminal)
  } finally {
    await close()
  }
}

/** If a nearly empty window becomes narrower, tmux moves even rows of the live area to the scrollback. */
const FULL_WINDOW = 'A line.\n'.repeat(24)

atTerminal('frames that tmux reads after it has changed the width leave nothing behind', async () => {
  await streamWhileResizing({ pieces: LINES, widths: [40, 200, 30, 80] }, assertEachLineOnce)
})

atTerminal('such frames repeat no item of a list', async () => {
  const streamed = { pieces: ITEMS, widths: [30, 100, 40], before: FULL_WINDOW }
  await streamWhileResizing(streamed, (terminal) => assertNumbers(terminal, /Thisisitem(\d+)of/g, ITEMS.length))
})

atTerminal('such frames repeat no word of a paragraph', async () => {
  const pieces = Array.from({ length: WORDS.length / 3 }, (_, index) => WORDS.slice(3 * index, 3 * index + 3).join(''))
  const streamed = { pieces, widths: [30, 70, 40, 100], before: FULL_WINDOW }
  await streamWhileResizing(streamed, (terminal) => assertNumbers(terminal, /word(\d+)/g, WORDS.length))
})

test.run()
