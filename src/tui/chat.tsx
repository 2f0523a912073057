/** Runs the chat on a terminal: connects keyboard, session and screen, and restores the terminal. */
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
  /** Called before the first frame: afterwards nothing else may write to the terminal. */
  onTerminalAcquired: () => void
}

const TICK_MS = 100
/** Effectively unlimited: FrameScheduler limits the frame rate. */
const INK_MAX_FPS = 1000

/** Resolves when the user quits, with the id of the last conversation. */
export async function runChat({
  connect,
  conversation,
  colors,
  cwd,
  input,
  output,
  onTerminalAcquired,
}: ChatOptions): Promise<string | undefined> {
  const size = () => ({ columns: output.columns || 80, rows: output.rows || 24 })
  let onChange = () => {}
  const store = new ChatStore(() => onChange())
  store.update({ size: size() })
  let quit = () => {}
  const hasQuit = new Promise<void>((resolve) => {
    quit = resolve
  })
  const session = new ChatSession({ store, connect, isPlain: false, cwd, quit, copy: (text) => copyToClipboard(text, output) })
  await openConversation(session, conversation)
  onTerminalAcquired()
  const stdout = bufferStdout(output)
  const builder = new FrameBuilder(colors, store.state)
  const frames = new FrameStore()
  const scheduler = new FrameScheduler(() => frames.publish(builder.build(store.state)))
  onChange = () => scheduler.request()
  scheduler.flush()
  const ink = render(<ChatView frames={frames} />, {
    stdin: input,
    stdout: stdout.stream,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: INK_MAX_FPS,
  })
  const onResize = () => {
    store.update({ size: size() })
    store.redraw()
  }
  output.on('resize', onResize)
  const stopListening = listenToKeyboard(input, output, (key) => handleKey(session, key))
  const ticker = setInterval(() => {
    if (store.state.transcript.isAwaitingReply) store.update({ now: store.now() })
  }, TICK_MS)
  session.client.watch()
  void session.loadNames()
  await hasQuit
  clearInterval(ticker)
  session.client.close()
  session.switcher.cancel()
  session.replies.stop()
  stopListening()
  output.off('resize', onResize)
  scheduler.flush()
  scheduler.stop()
  // Removes the input; the messages stay in the scrollback.
  frames.publish({ isFullRedraw: false, history: [], lines: [], cursor: undefined })
  await waitForRender()
  ink.unmount()
  stdout.flush()
  return store.state.conversation?.id
}

/** React renders before the next immediate. */
const waitForRender = () => new Promise((resolve) => setImmediate(resolve))
