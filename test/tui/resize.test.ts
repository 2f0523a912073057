/** The chat in a terminal that is resized, with a real daemon. */
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { reportFailure } from '../harness/hooks.ts'
import { streamReply } from '../harness/scripted-provider.ts'
import { hasTmux, type TmuxTerminal } from '../harness/tmux-terminal.ts'

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

async function startReply(columns: number, text = ['Before the lines.\n\n', ...LINES], interval = 40): Promise<TmuxTerminal> {
  fixture.script(streamReply({ text }, interval))
  const terminal = fixture.openChat({ agent: 'Guide', columns })
  await terminal.waitFor(/Ask Guide/)
  terminal.type('Write')
  return terminal
}

/** Waits until this line of the reply, or a later one, is visible. */
const waitForLine = (terminal: TmuxTerminal, line: number) =>
  terminal.waitFor((screen) => [...screen.matchAll(/line (\d+) of/g)].some(([, found]) => Number(found) >= line), `line ${line}`)

/** Makes the window narrower in steps, faster than tmux reports them to the program. */
async function dragNarrower(terminal: TmuxTerminal, from: number, to: number): Promise<void> {
  for (let columns = from; columns >= to; columns -= 4) {
    terminal.resize(columns, 24)
    await pause(20)
  }
}

function assertEachLineOnce(terminal: TmuxTerminal): void {
  const screen = terminal.readAll()
  const text = screen.replaceAll(/\s+/g, ' ')
  const counts = LINES.map((_, index) => text.split(`This is line ${index + 1} of a reply`).length - 1)
  assert.equal(
    counts.map((found, index) => `${index + 1}: ${found}`).filter((each) => !each.endsWith(': 1')),
    [],
    screen,
  )
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
    await waitForLine(terminal, line)
    terminal.resize(columns, rows)
  }
  await terminal.waitFor(new RegExp(`line ${COUNT} of[\\s\\S]*tokens`))
  assertEachLineOnce(terminal)
})

atTerminal('frames that tmux reads after it has changed the width leave nothing behind', async () => {
  const terminal = await startReply(100)
  terminal.write('A draft that is long enough for two rows in forty columns')
  let [line, old] = [5, 100]
  for (const columns of [40, 200, 30, 80]) {
    await waitForLine(terminal, line)
    terminal.resizeUnnoticed(columns, 24, old)
    await waitForLine(terminal, line + 9)
    terminal.reportWidth(columns)
    line += 14
    old = columns
  }
  await terminal.waitFor(new RegExp(`line ${COUNT} of[\\s\\S]*tokens`))
  await terminal.waitFor(/^─{80}\n› A draft/m)
  assertEachLineOnce(terminal)
})

atTerminal('narrowing the window step by step during a reply and after it leaves nothing of earlier drawings', async () => {
  const terminal = await startReply(96)
  await waitForLine(terminal, 8)
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
  await waitForLine(terminal, 7)
  terminal.resize(30, 24)
  await waitForLine(terminal, 20)
  terminal.resize(120, 40)
  await terminal.waitFor(new RegExp(`line ${COUNT} of[\\s\\S]*tokens`))
  assertEachLineOnce(terminal)
})

atTerminal('a paragraph of which tmux moves the start to the scrollback goes on where it was', async () => {
  const terminal = await startReply(100, WORDS, 10)
  for (const [word, columns] of [
    [100, 40],
    [200, 70],
  ] as const) {
    await terminal.waitFor((screen) => [...screen.matchAll(/word(\d+)/g)].some(([, found]) => Number(found) >= word), `word ${word}`)
    terminal.resize(columns, 24)
  }
  await terminal.waitFor(/word300\n[\s\S]*tokens/)
  // tmux may break a word at the end of a row.
  const words = terminal
    .readAll()
    .replaceAll(/\s+/g, '')
    .match(/word\d+/g)
  assert.equal(
    words,
    WORDS.map((word) => word.trim()),
    terminal.readAll(),
  )
})

test.run()
