/** Runs the chat on a terminal: connects keyboard, session and screen, and restores the terminal. */
import type { Connection } from '../client/request.ts'
import { ChatScreen, getSize } from './chat-screen.tsx'
import { copyToClipboard } from './commands/clipboard.ts'
import { handleKey } from './handle-key.ts'
import { editInEditor, resolveEditor } from './input/external-editor.ts'
import type { HistoryFile } from './input/history-file.ts'
import { type ConversationOptions, openConversation } from './open-conversation.ts'
import type { Rewrapping } from './render/drawn-lines.ts'
import { ChatSession, type ChatTerminal } from './session/chat-session.ts'
import { continueQueue } from './session/message-queue.ts'
import { ChatStore } from './state/chat-store.ts'

export interface ChatOptions {
  connect: (start: boolean) => Promise<Connection>
  conversation: ConversationOptions
  colors: boolean
  cwd: string
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
  environment: NodeJS.ProcessEnv
  /** Undefined if the history is disabled. */
  history: HistoryFile | undefined
  /** Called before the first frame: afterwards nothing else may write to the terminal. */
  onTerminalAcquired: () => void
}

const TICK_MS = 100

/** Resolves when the user quits, with the id of the last conversation. */
export async function runChat(options: ChatOptions): Promise<string | undefined> {
  const { connect, conversation, colors, cwd, input, output, environment, history, onTerminalAcquired } = options
  let screen: ChatScreen | undefined
  const store = new ChatStore(() => screen?.update())
  store.update({ size: getSize(output) })
  let quit = () => {}
  const hasQuit = new Promise<void>((resolve) => {
    quit = resolve
  })
  const terminal: ChatTerminal = {
    copy: (text) => copyToClipboard(text, { terminal: output, environment }),
    suspend: () => {
      if (process.platform === 'win32') store.update({ hint: 'Windows cannot suspend programs.' })
      else void screen?.suspend()
    },
    edit: async (text, fileName) => {
      const edit = () => editInEditor(text, resolveEditor(environment), fileName)
      return screen ? screen.handOver(edit) : text
    },
  }
  const session = new ChatSession({ store, connect, isPlain: false, cwd, quit, terminal, history })
  session.loadHistory()
  session.replies.onEnd = () => continueQueue(session)
  await openConversation(session, conversation)
  onTerminalAcquired()
  screen = new ChatScreen({
    store,
    colors,
    rewrapping: detectRewrapping(environment),
    input,
    output,
    onKey: (key) => handleKey(session, key),
  })
  screen.open()
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
  await screen.close()
  return store.state.conversation?.id
}

/** xterm, GNU screen and the Linux console cut lines off. */
function detectRewrapping({ TMUX, STY, XTERM_VERSION, TERM = '' }: NodeJS.ProcessEnv): Rewrapping {
  if (TMUX || (!STY && /^(tmux|screen)/.test(TERM))) return 'tmux'
  return STY || XTERM_VERSION || TERM === 'linux' ? 'none' : 'wraps'
}
