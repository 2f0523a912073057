/** Runs the chat line by line, for screen readers, pipes and simple terminals. */
import { createInterface, type Interface } from 'node:readline'
import { parseConfirmation } from '../cli/ask/parse-confirmation.ts'
import { sanitizeLine } from '../cli/terminal/text.ts'
import type { ChatOptions } from './chat.tsx'
import { changeArguments } from './confirmation-keys.ts'
import { replaceInterruptHandlers } from './input/interrupts.ts'
import { openConversation } from './open-conversation.ts'
import { PLAIN_COLUMNS, PlainPrinter } from './plain-printer.ts'
import { formatArguments } from './render/render-tool-call.ts'
import { allowAlways } from './session/allow-tool.ts'
import { ChatSession, type ChatTerminal } from './session/chat-session.ts'
import { describeError } from './session/reconnecting-reply.ts'
import { getEditedArguments } from './state/chat-state.ts'
import { ChatStore } from './state/chat-store.ts'
import type { ToolCall } from './state/reply-reducer.ts'
import { findPendingConfirmation } from './state/transcript-reducer.ts'
import { submit } from './submit.ts'

interface PlainChatOptions extends Pick<ChatOptions, 'connect' | 'conversation' | 'cwd'> {
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  output: NodeJS.WritableStream
}

const QUIT_HINT = 'Press Ctrl+C again to quit.'

/** Plain chats have no keys, and their output may be read by a program. */
const NO_TERMINAL: ChatTerminal = {
  copy: async () => ({ outcome: 'failed', note: 'The plain chat cannot use the clipboard.' }),
  suspend: () => {},
  edit: async (text) => text,
}

/** Resolves at the end of the input or when the user quits, with the id of the last conversation. */
export async function runPlainChat({ connect, conversation, cwd, input, output }: PlainChatOptions): Promise<string | undefined> {
  const printer = new PlainPrinter({ output, isEchoed: input.isTTY === true, describeConfirmation })
  const store = new ChatStore(() => printer.print(store.state))
  store.update({ size: { columns: PLAIN_COLUMNS, rows: 24 } })
  let quit = () => {}
  const session = new ChatSession({ store, connect, isPlain: true, cwd, quit: () => quit(), terminal: NO_TERMINAL })
  await openConversation(session, conversation)
  const { agent, model } = store.state
  const names = [agent?.name ?? '', ...(model ? [model.name] : [])].map(sanitizeLine).join(', ')
  output.write(`${names}. Type a message and press Enter. For help: /help. To quit: quit\n`)
  // Created last: lines that arrive before the loop of readLines are lost.
  const lines = createInterface({ input, terminal: false })
  quit = () => lines.close()
  const interruption = new Interruption(session, printer, output)
  const read = () => readLines(session, { lines, printer, interruption, output })
  try {
    // Without a terminal, Ctrl+C ends the program that writes the lines as well.
    await (input.isTTY ? replaceInterruptHandlers(() => interruption.interrupt(), read) : read())
  } finally {
    lines.close()
    session.client.close()
  }
  return store.state.conversation?.id
}

/** What Ctrl+C does: it stops the reply; without a reply, the second one in succession quits. */
class Interruption {
  readonly #session: ChatSession
  readonly #printer: PlainPrinter
  readonly #output: NodeJS.WritableStream
  /** Resolves when the user quits. */
  readonly quits: Promise<void>
  hasQuit = false
  canQuit = false
  #resolve = () => {}

  constructor(session: ChatSession, printer: PlainPrinter, output: NodeJS.WritableStream) {
    this.#session = session
    this.#printer = printer
    this.#output = output
    this.quits = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  interrupt(): void {
    this.#printer.breakLine()
    const isStopped = this.#session.replies.stop()
    this.#session.switcher.cancel()
    if (!isStopped && this.canQuit) {
      this.hasQuit = true
      this.#resolve()
      this.#session.quit()
    } else if (!isStopped) this.#output.write(`${QUIT_HINT}\n`)
    this.canQuit = !isStopped
  }
}

interface LineOptions {
  lines: Interface
  printer: PlainPrinter
  interruption: Interruption
  output: NodeJS.WritableStream
}

async function readLines(session: ChatSession, { lines, printer, interruption, output }: LineOptions): Promise<void> {
  const { store, replies } = session
  let submission: Promise<void> = Promise.resolve()
  for await (const line of lines) {
    interruption.canQuit = false
    await Promise.race([Promise.all([submission, replies.done]), printer.waitForConfirmation(), interruption.quits])
    if (interruption.hasQuit) return
    const tool = findPendingConfirmation(store.state.transcript)
    if (tool) {
      const question = await answerConfirmation(session, tool, line.trim())
      if (question !== undefined) output.write(`${question}\n`)
    } else submission = submit(session, line)
  }
  let isDone = false
  const finished = Promise.all([submission, replies.done]).then(() => {
    isDone = true
  })
  while (!isDone && !interruption.hasQuit) {
    await Promise.race([finished, printer.waitForConfirmation(), interruption.quits])
    const tool = findPendingConfirmation(store.state.transcript)
    // After the end of the input nobody can answer.
    if (tool) await replies.confirm(tool.id, false)
  }
}

/** Returns the next prompt after changed arguments or an unknown answer. */
async function answerConfirmation(session: ChatSession, tool: ToolCall, answer: string): Promise<string | undefined> {
  const { replies } = session
  const confirmation = parseConfirmation(answer)
  if (confirmation && (!confirmation.always || tool.toolId !== undefined)) {
    const { allow, always } = confirmation
    await replies.confirm(tool.id, allow, allow ? getEditedArguments(session.store.state, tool)?.values : undefined)
    if (always) await allowAlways(session, tool, always)
    return undefined
  }
  const question = formatQuestion(tool)
  if (!answer.startsWith('{')) return question
  try {
    const { values, request } = await changeArguments(session, tool, answer)
    return describeConfirmation({ ...tool, arguments: values, request })
  } catch (error) {
    return `${sanitizeLine(describeError(error).error)} ${question}`
  }
}

/** Without the id of its tool, a call cannot be allowed for good. */
const formatQuestion = ({ toolId }: ToolCall): string =>
  `Allow? Type yes, no, ${toolId === undefined ? '' : 'always tool, always agent, '}or other arguments as JSON.`

function describeConfirmation(tool: ToolCall): string {
  const { name, arguments: args, request, reason } = tool
  const details = [request && `${request.method} ${request.url}`, formatArguments(args) && `with ${formatArguments(args)}`].filter(Boolean)
  const why = reason === undefined ? '' : ` ${sanitizeLine(reason)}`
  return `${sanitizeLine(name)} wants to run: ${sanitizeLine(details.join(' '))}.${why} ${formatQuestion(tool)}`
}
