/** Runs the chat line by line, for screen readers, pipes and simple terminals. */
import { createInterface } from 'node:readline'
import { parseApproval } from '../cli/ask/parse-approval.ts'
import { toAnsi } from '../cli/terminal/markdown/styled-text.ts'
import { sanitizeLine } from '../cli/terminal/text.ts'
import type { Connection } from '../client/request.ts'
import { changeArguments } from './confirmation-keys.ts'
import { type ConversationOptions, openConversation } from './open-conversation.ts'
import { formatArguments } from './render/render-tool-call.ts'
import { advanceScrollback, EMPTY_SCROLLBACK, type ScrollbackState } from './render/scrollback.ts'
import { allowAlways } from './session/allow-tool.ts'
import { ChatSession, type ChatTerminal } from './session/chat-session.ts'
import { describeError } from './session/reply-stream.ts'
import { type ChatState, findEditedArguments } from './state/chat-state.ts'
import { ChatStore } from './state/chat-store.ts'
import type { ToolCall } from './state/reply-reducer.ts'
import { findPendingConfirmation } from './state/transcript-reducer.ts'
import { submit } from './submit.ts'

interface PlainChatOptions {
  connect: (start: boolean) => Promise<Connection>
  conversation: ConversationOptions
  cwd: string
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  output: NodeJS.WritableStream
}

/** Effectively unlimited: the terminal or screen reader wraps the lines. */
const COLUMNS = 2_000

/** Plain chats have no keys, and their output may be read by a program. */
const NO_TERMINAL: ChatTerminal = {
  copy: async () => ({ outcome: 'failed', note: 'The plain chat cannot use the clipboard.' }),
  suspend: () => {},
  edit: async (text) => text,
}

/** Resolves at the end of the input or when the user quits. */
export async function runPlainChat({ connect, conversation, cwd, input, output }: PlainChatOptions): Promise<void> {
  const printer = new Printer(output, input.isTTY === true)
  const store = new ChatStore(() => printer.print(store.state))
  store.update({ size: { columns: COLUMNS, rows: 24 } })
  let quit = () => {}
  const session = new ChatSession({ store, connect, isPlain: true, cwd, quit: () => quit(), terminal: NO_TERMINAL })
  await openConversation(session, conversation)
  const { agent, model } = store.state
  const names = [agent?.name ?? '', ...(model ? [model.name] : [])].map(sanitizeLine).join(', ')
  output.write(`${names}. Type a message and press Enter. For help: /help. To quit: quit\n`)
  // Created last: lines that arrive before the loop below are lost.
  const lines = createInterface({ input, terminal: false })
  quit = () => lines.close()
  const stop = () => void (session.replies.stop() || lines.close())
  process.on('SIGINT', stop)
  let submission: Promise<void> = Promise.resolve()
  try {
    for await (const line of lines) {
      await Promise.race([Promise.all([submission, session.replies.done]), printer.waitForConfirmation()])
      const tool = findPendingConfirmation(store.state.transcript)
      if (tool) {
        const question = await answerConfirmation(session, tool, line.trim())
        if (question !== undefined) output.write(`${question}\n`)
      } else submission = submit(session, line)
    }
    let isDone = false
    const finished = Promise.all([submission, session.replies.done]).then(() => {
      isDone = true
    })
    while (!isDone) {
      await Promise.race([finished, printer.waitForConfirmation()])
      const tool = findPendingConfirmation(store.state.transcript)
      // After the end of the input nobody can answer.
      if (tool) await session.replies.confirm(tool.id, false)
    }
  } finally {
    process.off('SIGINT', stop)
    session.client.close()
  }
}

/** Returns the question to ask again after changed arguments, and after an answer that is none of those offered. */
async function answerConfirmation(session: ChatSession, tool: ToolCall, answer: string): Promise<string | undefined> {
  const { replies } = session
  const approval = parseApproval(answer)
  if (approval) {
    await replies.confirm(tool.id, approval.allow, approval.allow ? findEditedArguments(session.store.state, tool)?.values : undefined)
    if (approval.always) await allowAlways(session, tool, approval.always)
    return undefined
  }
  if (!answer.startsWith('{')) return QUESTION
  try {
    const { values, request } = await changeArguments(session, tool, answer)
    return describeConfirmation({ ...tool, arguments: values, ...(request ? { request } : {}) })
  } catch (error) {
    return `${sanitizeLine(describeError(error).error)} ${QUESTION}`
  }
}

const QUESTION = 'Allow? Type yes, no, always tool, always agent, or other arguments as JSON.'

function describeConfirmation({ name, arguments: args, request }: ToolCall): string {
  const details = [request && `${request.method} ${request.url}`, formatArguments(args) && `with ${formatArguments(args)}`].filter(Boolean)
  return `${sanitizeLine(name)} wants to run: ${sanitizeLine(details.join(' '))}. ${QUESTION}`
}

/** Prints entries as soon as they are complete. */
class Printer {
  readonly #output: NodeJS.WritableStream
  readonly #isEchoed: boolean
  #scrollback: ScrollbackState = EMPTY_SCROLLBACK
  #redrawCount = 0
  #confirmationId: string | undefined
  #connectionProblem: string | undefined
  #waiters: (() => void)[] = []

  constructor(output: NodeJS.WritableStream, isEchoed: boolean) {
    this.#output = output
    this.#isEchoed = isEchoed
  }

  print({ redrawCount, transcript, now, connectionProblem }: ChatState): void {
    // The transcript was replaced, as after /resume and /history.
    if (redrawCount !== this.#redrawCount) this.#scrollback = EMPTY_SCROLLBACK
    this.#redrawCount = redrawCount
    // A terminal has already echoed the input.
    if (this.#isEchoed && transcript.isAwaitingReply && transcript.entries[this.#scrollback.entries]?.kind === 'said')
      this.#scrollback = { ...this.#scrollback, entries: this.#scrollback.entries + 1 }
    const { state, done } = advanceScrollback(this.#scrollback, transcript, { columns: COLUMNS, now, details: false, hidesReasoning: true })
    this.#scrollback = state
    this.#write(done.map((line) => toAnsi(line, false)))
    if (connectionProblem !== undefined && connectionProblem !== this.#connectionProblem) this.#write([sanitizeLine(connectionProblem)])
    this.#connectionProblem = connectionProblem
    const tool = findPendingConfirmation(transcript)
    if (tool && tool.id !== this.#confirmationId) this.#write([describeConfirmation(tool)])
    this.#confirmationId = tool?.id
    if (tool) for (const resolve of this.#waiters.splice(0)) resolve()
  }

  #write(lines: readonly string[]): void {
    if (lines.length > 0) this.#output.write(`${lines.join('\n')}\n`)
  }

  /** Resolves when a tool call needs a confirmation. */
  waitForConfirmation(): Promise<void> {
    return this.#confirmationId === undefined ? new Promise((resolve) => this.#waiters.push(resolve)) : Promise.resolve()
  }
}
