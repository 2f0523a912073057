/** Opens the full-screen or plain chat, which is loaded on demand. */
import { connect } from '../../client/daemon.ts'
import type { Paths } from '../../config.ts'
import type { ConversationOptions } from '../../tui/open-conversation.ts'
import { canRedraw, paint, supportsColor } from '../terminal/color.ts'

export interface OpenChatOptions {
  paths: Paths
  /** Installation directory of Cadre. */
  root: string
  /** Whether the daemon may be started. */
  start: boolean
  narrate: (line: string) => void
  /** Whether to use the plain chat that reads line by line. */
  plain?: boolean
}

/** Whether the terminal can show the full-screen chat. */
export function canOpenChat(): boolean {
  return process.stdin.isTTY === true && canRedraw(process.stdout)
}

/** Resolves when the user leaves the chat. */
export async function openChat(
  { paths, root, start, narrate, plain = false }: OpenChatOptions,
  opening: ConversationOptions,
): Promise<void> {
  const [input, output] = [process.stdin, process.stdout]
  // Nothing else may write to the terminal once the screen is drawn.
  const state = { narrate }
  const dial = (again: boolean) => connect({ paths, root, start: again && start, notify: (line) => state.narrate(line) })
  const shared = { connect: dial, opening, cwd: process.cwd(), input, output }
  if (plain) {
    const { runPlainChat: plainChat } = await import('../../tui/plain-chat.ts')
    return plainChat(shared)
  }
  const { runChat: chat } = await import('../../tui/chat.tsx')
  const drawing = () => {
    state.narrate = () => undefined
  }
  const conversation = await chat({ ...shared, colors: supportsColor(output), onTerminalAcquired: drawing })
  if (conversation !== undefined) narrate(paint('dim', `To continue: cadre chat --conversation ${conversation}`))
}
