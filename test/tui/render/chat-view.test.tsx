/** Drawing of frames with Ink, and the frame rate. */
import { Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { render as inkRender } from 'ink'
import { render } from 'ink-testing-library'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { bufferStdout, END_UPDATE } from '../../../src/tui/render/buffered-stdout.ts'
import { ChatView } from '../../../src/tui/render/chat-view.tsx'
import { type Frame, FrameBuilder } from '../../../src/tui/render/frame-builder.ts'
import { type Clock, FrameScheduler } from '../../../src/tui/render/frame-scheduler.ts'
import { FrameStore } from '../../../src/tui/render/frame-store.ts'
import { type ChatState, INITIAL_STATE } from '../../../src/tui/state/chat-state.ts'
import { EMPTY_TRANSCRIPT, reduceTranscript, type TranscriptAction } from '../../../src/tui/state/transcript-reducer.ts'
import { TerminalEmulator } from '../../harness/terminal-emulator.ts'

const test = suite('chat view')

/** Renders frames on an emulated terminal. */
function openView(columns = 60, rows = 20, onFlush?: () => boolean) {
  const terminal = new TerminalEmulator(columns, rows)
  const pieces: string[] = []
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      pieces.push(chunk.toString())
      terminal.write(chunk.toString())
      done()
    },
  }) as unknown as NodeJS.WriteStream
  Object.defineProperties(output, { columns: { value: columns }, rows: { value: rows } })
  const stdout = bufferStdout(output, onFlush)
  const store = new FrameStore((text) => stdout.stream.write(text))
  const ink = inkRender(<ChatView frames={store} />, { stdout: stdout.stream, patchConsole: false, exitOnCtrlC: false, maxFps: 1000 })
  return {
    terminal,
    pieces,
    unmount: ink.unmount,
    async show(...frames: Frame[]) {
      // Ink needs a millisecond between two frames.
      await pause(2)
      for (const frame of frames) store.publish(frame)
      await new Promise((resolve) => setImmediate(resolve))
      stdout.flush()
      return terminal.screen.trimEnd()
    },
  }
}

const delta = (text: string): TranscriptAction => ({ kind: 'event', at: 0, event: { event: 'message_delta', data: { text } } })
const state = (actions: readonly TranscriptAction[], fields: Partial<ChatState> = {}): ChatState => ({
  ...INITIAL_STATE,
  agent: { id: 'a', name: 'Guide' },
  size: { columns: 60, rows: 20 },
  transcript: actions.reduce(reduceTranscript, EMPTY_TRANSCRIPT),
  ...fields,
})
const frame = (fields: Partial<Frame>): Frame => ({ history: [], lines: [], cursor: undefined, ...fields })

test('history is written once, above the live area', async () => {
  const builder = new FrameBuilder(false)
  const view = openView()
  const talk: TranscriptAction[] = [{ kind: 'said', text: 'Hello' }, delta('One.\n\nTw')]
  await view.show(builder.build(state(talk)))
  const screen = await view.show(builder.build(state([...talk, delta('o.\n\nThree')])))
  assert.equal(screen.split('\n').filter(Boolean), [
    '› Hello',
    '  One.',
    '  Two.',
    '  Three',
    '  ⠋ writing · Esc to stop',
    '─'.repeat(60),
    '› Ask Guide',
    '  Guide · /help · /quit',
  ])
  view.unmount()
})

test('history published between two frames is not lost', async () => {
  const view = openView()
  const screen = await view.show(...['one', 'two', 'three'].map((line) => frame({ history: [line], lines: [`after ${line}`] })))
  assert.is(screen, 'one\ntwo\nthree\nafter three')
  view.unmount()
})

test('the screen is cleared before another transcript is drawn', async () => {
  const view = openView()
  await view.show(frame({ history: ['old'], lines: ['live', 'more'] }))
  const screen = await view.show(frame({ clear: 'erase', history: ['new'], lines: ['live', 'more'] }))
  assert.is(screen, 'new\nlive\nmore')
  assert.is(await view.show(frame({ clear: 'clear', lines: ['live', 'more'] })), 'live\nmore', 'even if nothing else changed')
  view.unmount()
})

test('a frame is one write', async () => {
  const view = openView()
  await view.show(frame({ lines: ['first'] }))
  view.pieces.length = 0
  await view.show(frame({ history: ['a', 'b'], lines: ['x', 'y'], cursor: { x: 1, y: 0 } }))
  assert.is(view.pieces.length, 1)
  assert.is(view.pieces[0]?.split(END_UPDATE).length, 2, 'one update')
  assert.equal(view.terminal.cursor, { x: 1, y: 2 })
  view.unmount()
})

test('lines that Ink measures too wide are not truncated', () => {
  const thai = 'ประเทศไทยมีวันหยุดพักร้อนยี่สิบห้าวันต่อปีและอีกห้าวันหลังจากสิบปีประเทศไทยมีวันหยุด'
  const alive = { lines: [thai, '', 'x'], cursor: undefined }
  const frames = { subscribe: () => () => {}, getLiveArea: () => alive, takeHistory: () => undefined }
  const view = render(<ChatView frames={frames} />)
  assert.is(view.lastFrame(), `${thai}\n\nx`)
  view.unmount()
})

/** A clock that the test advances. */
class Hourglass implements Clock {
  time = 0
  #waiting: { at: number; work: () => void }[] = []
  now = () => this.time
  afterRender = (work: () => void) => work()
  schedule(milliseconds: number, work: () => void): () => void {
    const one = { at: this.time + milliseconds, work }
    this.#waiting.push(one)
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== one)
    }
  }
  pass(milliseconds: number): void {
    const until = this.time + milliseconds
    for (;;) {
      const [next] = this.#waiting.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
      if (!next) break
      this.#waiting = this.#waiting.filter((each) => each !== next)
      this.time = Math.max(this.time, next.at)
      next.work()
    }
    this.time = until
  }
}

test('the first change is drawn immediately, then at most 30 frames per second', () => {
  const clock = new Hourglass()
  const drawn: number[] = []
  const frames = new FrameScheduler(() => void drawn.push(clock.time), clock)
  frames.request()
  clock.pass(0)
  assert.is(drawn.length, 1)
  for (let change = 0; change < 5000; change++) {
    frames.request()
    clock.pass(0.2)
  }
  assert.ok(drawn.length >= 29 && drawn.length <= 31, `${drawn.length} frames in a second`)
  clock.pass(1000)
  const before = drawn.length
  frames.request()
  frames.request()
  clock.pass(1000)
  assert.is(drawn.length, before + 1, 'the last change is drawn, too')
})

test('slow drawing lowers the frame rate', () => {
  const clock = new Hourglass()
  let drawn = 0
  const frames = new FrameScheduler(() => {
    drawn++
    clock.time += 100
  }, clock)
  for (let change = 0; change < 100; change++) {
    frames.request()
    clock.pass(10)
  }
  assert.ok(drawn >= 5 && drawn <= 8, `${drawn} frames`)
  frames.stop()
  frames.request()
  clock.pass(1000)
  assert.ok(drawn <= 8)
})

test('after a resize the visible messages are drawn again, and those in the scrollback are not', async () => {
  const builder = new FrameBuilder(false, undefined, 'none')
  const view = openView()
  const talk = Array.from({ length: 30 }, (_, index): TranscriptAction => ({ kind: 'noted', text: `Note ${index}.` }))
  await view.show(builder.build(state(talk)))
  view.terminal.resize(50, 12)
  await view.show(builder.build(state(talk, { size: { columns: 50, rows: 12 } }), view.terminal.cursor.y))
  const all = [...view.terminal.history, ...view.terminal.screen.split('\n')].filter((each) => each.trim() !== '')
  assert.equal(all, [...talk.map((_, index) => `  Note ${index}.`), '─'.repeat(50), '› Ask Guide', '  Guide · /help · /quit'])
  view.unmount()
})

test('a frame for another size than that of the terminal is not written, and the next one contains its lines', async () => {
  const builder = new FrameBuilder(false, undefined, 'none')
  let size = { columns: 60, rows: 20 }
  const view = openView(60, 20, () => {
    if (builder.discardOutdated(size)) return false
    builder.commit()
    return true
  })
  const talk: TranscriptAction[] = [{ kind: 'said', text: 'Hello' }, delta('One.\n\nTw')]
  await view.show(builder.build(state(talk)))
  size = { columns: 50, rows: 20 }
  view.terminal.resize(50, 20)
  view.pieces.length = 0
  talk.push(delta('o.\n\nThree.\n\nFour.\n\n'))
  await view.show(builder.build(state(talk)))
  await view.show(builder.build(state([...talk, delta('Fi')])))
  assert.equal(view.pieces, [], 'neither is written')
  await view.show(builder.build(state([...talk, delta('Five')], { size }), view.terminal.cursor.y))
  const all = [...view.terminal.history, ...view.terminal.screen.split('\n')].filter((each) => each.trim() !== '')
  assert.equal(all, [
    '› Hello',
    ...['One.', 'Two.', 'Three.', 'Four.', 'Five', '⠋ writing · Esc to stop'].map((each) => `  ${each}`),
    '─'.repeat(50),
    '› Ask Guide',
    '  Guide · /help · /quit',
  ])
  view.unmount()
})

test('a discarded frame loses no line if the terminal has its old size again', async () => {
  const builder = new FrameBuilder(false, undefined, 'none')
  const size = { columns: 60, rows: 20 }
  const narrow = { columns: 50, rows: 20 }
  let current = size
  const view = openView(60, 20, () => {
    if (builder.discardOutdated(current)) return false
    builder.commit()
    return true
  })
  const talk: TranscriptAction[] = [{ kind: 'said', text: 'Hello' }, delta('- One.\n- Two.')]
  await view.show(builder.build(state(talk)))
  current = narrow
  talk.push(delta('\n- Three.\n\nA paragraph that\nhas more\nlines.'))
  await view.show(builder.build(state(talk)))
  current = size
  assert.ok(builder.drawsAgain(state(talk)))
  const screen = await view.show(builder.build(state(talk), view.terminal.cursor.y))
  assert.equal(screen.split('\n').filter(Boolean).slice(0, 7), [
    '› Hello',
    ...['• One.', '• Two.', '• Three.', 'A paragraph that', 'has more', 'lines.'].map((each) => `  ${each}`),
  ])
  view.unmount()
})

test('after a delay, all changes are drawn in one frame', () => {
  const clock = new Hourglass()
  const drawn: number[] = []
  const frames = new FrameScheduler(() => void drawn.push(clock.time), clock)
  frames.request()
  clock.pass(0)
  frames.delay(300)
  for (let change = 0; change < 299; change++) {
    frames.request()
    clock.pass(1)
  }
  assert.equal(drawn, [0])
  frames.delay(300)
  clock.pass(1000)
  assert.equal(drawn, [0, 599])
})

test.run()
