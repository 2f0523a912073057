/** The same conversation line by line: for screen readers, pipes and terminals that cannot be drawn on. */
import { createInterface } from 'node:readline'
import { sanitizeLine } from '../cli/terminal/text.ts'
import type { Connection } from '../client/request.ts'
import { toAnsi } from './markdown/styled-text.ts'
import { type ConversationOptions, openConversation } from './open-conversation.ts'
import { formatArguments } from './render/render-tool-call.ts'
import { advanceScrollback, EMPTY_SCROLLBACK, type ScrollbackState } from './render/scrollback.ts'
import { ChatSession } from './session/chat-session.ts'
import type { ChatState } from './state/chat-state.ts'
import { ChatStore } from './state/chat-store.ts'
import { findPendingConfirmation } from './state/transcript-reducer.ts'
import { submit } from './submit.ts'

export interface PlainChatOptions {
  connect: (start: boolean) => Promise<Connection>
  conversation: ConversationOptions
  cwd: string
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  output: NodeJS.WritableStream
}

/** Lines are as long as they are: whoever reads them breaks them better. */
const COLUMNS = 2_000

/** Resolves at the end of the input, or when the person leaves. */
export async function runPlainChat({ connect, conversation: opening, cwd, input, output }: PlainChatOptions): Promise<void> {
  const printer = new Printer(output, input.isTTY === true)
  const desk = new ChatStore(() => printer.print(desk.state))
  desk.update({ size: { columns: COLUMNS, rows: 24 } })
  let leave = () => {}
  const room = new ChatSession({ store: desk, connect, isPlain: true, cwd, quit: () => leave(), copy: async () => false })
  await openConversation(room, opening)
  const { agent, model } = desk.state
  output.write(
    `${sanitizeLine(agent?.name ?? '')}${model ? `, ${sanitizeLine(model.name)}` : ''}. Type a message and press Enter; /help shows what else there is, quit leaves.\n`,
  )
  // Made last: lines that come before somebody waits for them are lost.
  const lines = createInterface({ input, terminal: false })
  leave = () => lines.close()
  const stop = () => void (room.replies.stop() || lines.close())
  process.on('SIGINT', stop)
  let talking: Promise<void> = Promise.resolve()
  try {
    for await (const line of lines) {
      await Promise.race([Promise.all([talking, room.replies.done]), printer.waitForConfirmation()])
      const tool = findPendingConfirmation(desk.state.transcript)
      if (tool) await room.replies.confirm(tool.id, /^y(es)?$/i.test(line.trim()))
      else talking = submit(room, line)
    }
    await Promise.all([talking, room.replies.done])
  } finally {
    process.off('SIGINT', stop)
    room.client.close()
  }
}

/** Prints what is finished, as soon as it is. */
class Printer {
  readonly #output: NodeJS.WritableStream
  readonly #isEchoed: boolean
  #scrollback: ScrollbackState = EMPTY_SCROLLBACK
  #redrawCount = 0
  #confirmationId: string | undefined
  #connectionProblem: string | undefined
  #waiters: (() => void)[] = []

  constructor(output: NodeJS.WritableStream, echoed: boolean) {
    this.#output = output
    this.#isEchoed = echoed
  }

  print({ redrawCount: drawing, transcript, now, connectionProblem: trouble }: ChatState): void {
    // Told from its beginning, as after /resume and /history.
    if (drawing !== this.#redrawCount) this.#scrollback = EMPTY_SCROLLBACK
    this.#redrawCount = drawing
    // What was typed at a terminal stands there already.
    if (this.#isEchoed && transcript.isAwaitingReply && transcript.entries[this.#scrollback.entries]?.kind === 'said')
      this.#scrollback = { ...this.#scrollback, entries: this.#scrollback.entries + 1 }
    const { state: feed, done } = advanceScrollback(this.#scrollback, transcript, { columns: COLUMNS, now, details: false })
    this.#scrollback = feed
    this.#write(done.map((each) => toAnsi(each, false)))
    if (trouble !== undefined && trouble !== this.#connectionProblem) this.#write([sanitizeLine(trouble)])
    this.#connectionProblem = trouble
    const tool = findPendingConfirmation(transcript)
    if (tool && tool.id !== this.#confirmationId)
      this.#write([`${sanitizeLine(tool.name)} wants to run with ${formatArguments(tool.arguments)}. Allow it? Type yes or no.`])
    this.#confirmationId = tool?.id
    if (tool) for (const resolve of this.#waiters.splice(0)) resolve()
  }

  #write(lines: readonly string[]): void {
    if (lines.length > 0) this.#output.write(`${lines.join('\n')}\n`)
  }

  /** Settles when a tool asks whether it may be used. */
  waitForConfirmation(): Promise<void> {
    return this.#confirmationId === undefined ? new Promise((resolve) => this.#waiters.push(resolve)) : Promise.resolve()
  }
}
