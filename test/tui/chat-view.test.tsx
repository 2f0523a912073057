/** Frames by Ink: history once, the live part in place, wide scripts whole, many changes in few frames. */
import { render } from 'ink-testing-library'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatView } from '../../src/tui/chat-view.tsx'
import { type Clock, Frames } from '../../src/tui/frames.ts'
import { type Frame, Presenter } from '../../src/tui/presenter.ts'
import { type ChatState, INITIAL } from '../../src/tui/state.ts'
import { EMPTY, type Happening, transcribe } from '../../src/tui/transcript.ts'

const test = suite('chat view')

/** A view whose frames the test hands over. */
function shown(first: Frame) {
  let frame = first
  const listeners = new Set<() => void>()
  const frames = {
    subscribe: (changed: () => void) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    current: () => frame,
  }
  const view = render(<ChatView frames={frames} />)
  return {
    ...view,
    async show(next: Frame) {
      frame = next
      for (const changed of listeners) changed()
      await new Promise((resolve) => setImmediate(resolve))
      return view.lastFrame() ?? ''
    },
  }
}

const delta = (text: string): Happening => ({ kind: 'event', at: 0, event: { event: 'message_delta', data: { text } } })
const state = (happenings: readonly Happening[], fields: Partial<ChatState> = {}): ChatState => ({
  ...INITIAL,
  agent: { id: 'a', name: 'Guide' },
  size: { columns: 60, rows: 20 },
  transcript: happenings.reduce(transcribe, EMPTY),
  ...fields,
})

test('history stands above what is alive, each line once', async () => {
  const presenter = new Presenter(false)
  const talk: Happening[] = [{ kind: 'said', text: 'Hello' }, delta('One.\n\nTw')]
  const view = shown(presenter.present(state(talk)))
  const last = await view.show(presenter.present(state([...talk, delta('o.\n\nThree')])))
  assert.equal(
    last.split('\n').filter((each) => each.trim() !== ''),
    ['› Hello', '  One.', '  Two.', '  Three', '─'.repeat(60), '› Ask Guide', '  Guide · /help'],
  )
  view.unmount()
})

test('scripts that Ink measures wider than terminals draw them are not cut', async () => {
  const thai = 'ประเทศไทยมีวันหยุดพักร้อนยี่สิบห้าวันต่อปี'
  const presenter = new Presenter(false)
  const view = shown(presenter.present(state([{ kind: 'said', text: thai }], { size: { columns: 100, rows: 20 } })))
  assert.match(view.lastFrame() ?? '', thai)
  view.unmount()
})

test('empty lines stay', async () => {
  const view = shown({ drawing: 0, printed: [['a', '', 'b']], lines: ['', 'x', ''], cursor: undefined })
  assert.match(view.lastFrame() ?? '', /a\n\nb\n\nx/)
  view.unmount()
})

test('another drawing prints anew', async () => {
  const view = shown({ drawing: 0, printed: [['old']], lines: ['x'], cursor: undefined })
  const last = await view.show({ drawing: 1, printed: [['new']], lines: ['x'], cursor: undefined })
  assert.match(last, 'new')
  view.unmount()
})

/** Time that passes when the test says so. */
class Hourglass implements Clock {
  time = 0
  #waiting: { at: number; work: () => void }[] = []
  now = () => this.time
  later(milliseconds: number, work: () => void): () => void {
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

test('however much changes, it is drawn thirty times a second at most, and the first change at once', () => {
  const clock = new Hourglass()
  const drawn: number[] = []
  const frames = new Frames(() => void drawn.push(clock.time), clock)
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

test('where drawing takes long, it is done less often', () => {
  const clock = new Hourglass()
  let drawn = 0
  const frames = new Frames(() => {
    drawn++
    clock.time += 100
  }, clock)
  for (let change = 0; change < 100; change++) {
    frames.request()
    clock.pass(10)
  }
  assert.ok(drawn <= 6, `${drawn} frames`)
  frames.stop()
  frames.request()
  clock.pass(1000)
  assert.ok(drawn <= 6)
})

test.run()
