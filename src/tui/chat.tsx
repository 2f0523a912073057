/** The chat on a terminal: wires keyboard, room and screen, and leaves the terminal as it was. */
import { render } from 'ink'
import type { Connection } from '../client/request.ts'
import { copy } from './commands/clipboard.ts'
import { listen } from './input/keyboard.ts'
import { press } from './key-bindings.ts'
import { type Opening, open } from './open-conversation.ts'
import { canvasOn } from './render/buffered-stdout.ts'
import { ChatView } from './render/chat-view.tsx'
import { Presenter } from './render/frame-builder.ts'
import { Frames } from './render/frame-scheduler.ts'
import { Showing } from './render/frame-store.ts'
import { Room } from './session/chat-session.ts'
import { Desk } from './state/chat-store.ts'

export interface ChatParts {
  connect: (start: boolean) => Promise<Connection>
  opening: Opening
  colors: boolean
  cwd: string
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
  /** From now on nothing else may write to the terminal. */
  drawing: () => void
}

const TICK_MS = 100
/** The pace is ours: Ink's own would delay what was waited for already. */
const INK_FPS = 1000

/** Resolves when the person leaves, with the conversation that was talked in. */
export async function chat({ connect, opening, colors, cwd, input, output, drawing }: ChatParts): Promise<string | undefined> {
  const size = () => ({ columns: output.columns || 80, rows: output.rows || 24 })
  let changed = () => {}
  const desk = new Desk(() => changed())
  desk.update({ size: size() })
  let leave = () => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  const room = new Room({ desk, connect, plain: false, cwd, leave, copy: (text) => copy(text, output) })
  await open(room, opening)
  drawing()
  const canvas = canvasOn(output)
  const presenter = new Presenter(colors, desk.state)
  const showing = new Showing()
  const frames = new Frames(() => showing.show(presenter.present(desk.state)))
  changed = () => frames.request()
  frames.flush()
  const ink = render(<ChatView frames={showing} />, {
    stdin: input,
    stdout: canvas.stream,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: INK_FPS,
  })
  const resized = () => {
    desk.update({ size: size() })
    desk.redraw()
  }
  output.on('resize', resized)
  const deaf = listen(input, output, (key) => press(room, key))
  const ticking = setInterval(() => {
    if (desk.state.transcript.awaiting) desk.update({ now: desk.now() })
  }, TICK_MS)
  room.link.watch()
  void room.learnNames()
  await left
  clearInterval(ticking)
  room.link.close()
  room.changing.giveUp()
  room.session.stop()
  deaf()
  output.off('resize', resized)
  frames.flush()
  frames.stop()
  // What was said stays in the terminal; the input does not.
  showing.show({ anew: false, history: [], lines: [], cursor: undefined })
  await drawnOnce()
  ink.unmount()
  canvas.flush()
  return desk.state.conversation?.id
}

/** React draws what it was told of in its own time, which is before this. */
const drawnOnce = () => new Promise((resolve) => setImmediate(resolve))
