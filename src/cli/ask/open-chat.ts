/** Opens the full-screen or plain chat, which is loaded on demand. */
import { type ConnectOptions, connect } from '../../client/connect.ts'
import { readSettings } from '../../config.ts'
import type { ConversationOptions } from '../../tui/open-conversation.ts'
import { canRedraw, paint, supportsColor } from '../terminal/color.ts'

interface OpenChatOptions extends ConnectOptions {
  /** Whether to use the plain chat that reads line by line. */
  plain?: boolean
}

/** Whether the terminal can show the full-screen chat. */
export function canOpenChat(): boolean {
  return process.stdin.isTTY === true && canRedraw(process.stdout)
}

/** Resolves when the user leaves the chat. */
export async function openChat(
  { paths, profile, root, start, notify, plain = false }: OpenChatOptions,
  options: ConversationOptions,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const [input, output] = [process.stdin, process.stdout]
  // Nothing else may write to the terminal once the screen is drawn.
  let isDrawn = false
  const shared = {
    connect: (canStart: boolean) =>
      connect({ paths, profile, root, start: canStart && start, notify: (line) => (isDrawn ? undefined : notify(line)) }),
    conversation: options,
    cwd: process.cwd(),
    input,
    output,
  }
  if (plain) {
    const { runPlainChat } = await import('../../tui/plain-chat.ts')
    const conversation = await runPlainChat(shared)
    return input.isTTY ? notifyHowToContinue(conversation, notify, canOpenChat() ? ' --plain' : '') : undefined
  }
  const [{ runChat }, { HistoryFile }] = await Promise.all([import('../../tui/chat.tsx'), import('../../tui/input/history-file.ts')])
  const conversation = await runChat({
    ...shared,
    environment,
    history: readSettings(paths).history === false ? undefined : new HistoryFile(paths.history),
    colors: supportsColor(output),
    onTerminalAcquired: () => {
      isDrawn = true
    },
  })
  notifyHowToContinue(conversation, notify)
}

function notifyHowToContinue(conversation: string | undefined, notify: (line: string) => void, flags = ''): void {
  if (conversation !== undefined) notify(paint('dim', `To continue: cadre chat${flags} --conversation ${conversation}`))
}
