/** The chat on a terminal: wires keyboard, room and screen, and leaves the terminal as it was. */
import { render } from 'ink'
import type { Connection } from '../client/request.ts'
import { canvasOn } from './canvas.ts'
import { ChatView } from './chat-view.tsx'
import { copy } from './clipboard.ts'
import { press } from './controls.ts'
import { Desk } from './desk.ts'
import { Frames } from './frames.ts'
import { listen } from './keyboard.ts'
import { type Opening, open } from './opening.ts'
import { type Frame, Presenter } from './presenter.ts'
import { Room } from './room.ts'

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

/** Begins an update that shows at once, and empties the screen; the terminal's history stays. */
const EMPTY_SCREEN = '\u001b[?2026h\u001b[2J\u001b[H'
const TICK_MS = 100
/** The pace is ours: Ink's own would delay what was waited for already. */
const INK_FPS = 1000

/** Resolves when the person leaves, with the conversation that was talked in. */
export async function chat({ connect, opening, colors, cwd, input, output, drawing }: ChatParts): Promise<string | undefined> {
  const canvas = canvasOn(output)
  const presenter = new Presenter(colors)
  const listeners = new Set<() => void>()
  const shown = { frame: presenter.frame }
  const frames = new Frames(() => {
    const before = shown.frame
    shown.frame = presenter.present(desk.state)
    if (shown.frame.drawing !== before.drawing) canvas.stream.write(EMPTY_SCREEN)
    for (const changed of listeners) changed()
  })
  const size = () => ({ columns: output.columns || 80, rows: output.rows || 24 })
  const desk = new Desk(() => frames.request())
  desk.update({ size: size() })
  let leave = () => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  const room = new Room({ desk, connect, plain: false, cwd, leave, copy: (text) => copy(text, output) })
  await open(room, opening)
  const view = {
    subscribe: (changed: () => void) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    current: () => shown.frame,
  }
  drawing()
  frames.flush()
  const ink = render(<ChatView frames={view} />, {
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
  room.session.stop()
  deaf()
  output.off('resize', resized)
  frames.flush()
  frames.stop()
  shown.frame = without(shown.frame)
  for (const changed of listeners) changed()
  await drawnOnce()
  ink.unmount()
  canvas.flush()
  return desk.state.conversation?.id
}

/** React draws what it was told of in its own time, which is before this. */
const drawnOnce = () => new Promise((resolve) => setImmediate(resolve))

/** What was said stays in the terminal; the input does not. */
function without(frame: Frame): Frame {
  return { ...frame, lines: [], cursor: undefined }
}
