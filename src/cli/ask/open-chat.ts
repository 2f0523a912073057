/** Opens the chat, on the whole terminal or line by line; it is loaded only then. */
import { connect } from '../../client/daemon.ts'
import type { Paths } from '../../config.ts'
import type { Opening } from '../../tui/open-conversation.ts'
import { canRedraw, paint, supportsColor } from '../terminal/color.ts'

export interface OpenChatOptions {
  paths: Paths
  /** Where Cadre is installed. */
  root: string
  /** Whether the daemon may be started. */
  start: boolean
  narrate: (line: string) => void
  /** Line by line. */
  plain?: boolean
}

/** Whether there is a terminal to draw on. */
export function canOpenChat(): boolean {
  return process.stdin.isTTY === true && canRedraw(process.stdout)
}

/** Resolves when the person leaves. */
export async function openChat({ paths, root, start, narrate, plain = false }: OpenChatOptions, opening: Opening): Promise<void> {
  const [input, output] = [process.stdin, process.stdout]
  // Once the screen is drawn, nothing else may write to the terminal.
  const state = { narrate }
  const dial = (again: boolean) => connect({ paths, root, start: again && start, narrate: (line) => state.narrate(line) })
  const shared = { connect: dial, opening, cwd: process.cwd(), input, output }
  if (plain) {
    const { plainChat } = await import('../../tui/plain-chat.ts')
    return plainChat(shared)
  }
  const { chat } = await import('../../tui/chat.tsx')
  const drawing = () => {
    state.narrate = () => undefined
  }
  const conversation = await chat({ ...shared, colors: supportsColor(output), drawing })
  if (conversation !== undefined) narrate(paint('dim', `To go on: cadre chat --conversation ${conversation}`))
}
