/** The chat on a terminal: wires keyboard, room and screen, and leaves the terminal as it was. */
import { render } from 'ink'
import type { Connection } from '../client/request.ts'
import { copyToClipboard } from './commands/clipboard.ts'
import { listenToKeyboard } from './input/keyboard.ts'
import { handleKey } from './key-bindings.ts'
import { type ConversationOptions, openConversation } from './open-conversation.ts'
import { bufferStdout } from './render/buffered-stdout.ts'
import { ChatView } from './render/chat-view.tsx'
import { FrameBuilder } from './render/frame-builder.ts'
import { FrameScheduler } from './render/frame-scheduler.ts'
import { FrameStore } from './render/frame-store.ts'
import { ChatSession } from './session/chat-session.ts'
import { ChatStore } from './state/chat-store.ts'

export interface ChatOptions {
  connect: (start: boolean) => Promise<Connection>
  conversation: ConversationOptions
  colors: boolean
  cwd: string
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
  /** From now on nothing else may write to the terminal. */
  onTerminalAcquired: () => void
}

const TICK_MS = 100
/** The pace is ours: Ink's own would delay what was waited for already. */
const INK_MAX_FPS = 1000

/** Resolves when the person leaves, with the conversation that was talked in. */
export async function runChat({
  connect,
  conversation: opening,
  colors,
  cwd,
  input,
  output,
  onTerminalAcquired: drawing,
}: ChatOptions): Promise<string | undefined> {
  const size = () => ({ columns: output.columns || 80, rows: output.rows || 24 })
  let changed = () => {}
  const desk = new ChatStore(() => changed())
  desk.update({ size: size() })
  let leave = () => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  const room = new ChatSession({ store: desk, connect, isPlain: false, cwd, quit: leave, copy: (text) => copyToClipboard(text, output) })
  await openConversation(room, opening)
  drawing()
  const canvas = bufferStdout(output)
  const presenter = new FrameBuilder(colors, desk.state)
  const showing = new FrameStore()
  const frames = new FrameScheduler(() => showing.publish(presenter.build(desk.state)))
  changed = () => frames.request()
  frames.flush()
  const ink = render(<ChatView frames={showing} />, {
    stdin: input,
    stdout: canvas.stream,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: INK_MAX_FPS,
  })
  const resized = () => {
    desk.update({ size: size() })
    desk.redraw()
  }
  output.on('resize', resized)
  const deaf = listenToKeyboard(input, output, (key) => handleKey(room, key))
  const ticking = setInterval(() => {
    if (desk.state.transcript.isAwaitingReply) desk.update({ now: desk.now() })
  }, TICK_MS)
  room.client.watch()
  void room.loadNames()
  await left
  clearInterval(ticking)
  room.client.close()
  room.switcher.cancel()
  room.replies.stop()
  deaf()
  output.off('resize', resized)
  frames.flush()
  frames.stop()
  // What was said stays in the terminal; the input does not.
  showing.publish({ isFullRedraw: false, history: [], lines: [], cursor: undefined })
  await waitForRender()
  ink.unmount()
  canvas.flush()
  return desk.state.conversation?.id
}

/** React draws what it was told of in its own time, which is before this. */
const waitForRender = () => new Promise((resolve) => setImmediate(resolve))
