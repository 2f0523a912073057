/** Prints the plain chat: nothing is rewritten, and a reply is printed sentence by sentence and line by line. */
import { toAnsi } from '../cli/terminal/markdown/styled-text.ts'
import { sanitizeLine } from '../cli/terminal/text.ts'
import { advanceScrollback, EMPTY_SCROLLBACK, type ScrollbackState } from './render/scrollback.ts'
import type { ChatState } from './state/chat-state.ts'
import type { ReplyState, ToolCall } from './state/reply-reducer.ts'
import { findPendingConfirmation } from './state/transcript-reducer.ts'

interface PlainPrinterOptions {
  output: NodeJS.WritableStream
  /** Whether the terminal has already shown the input. */
  isEchoed: boolean
  describeConfirmation: (tool: ToolCall) => string
}

/** Effectively unlimited: the terminal or screen reader wraps the lines. */
export const PLAIN_COLUMNS = 2_000

const THINKING = '  Thinking…'
/** The row before the last one tells a table whose cells have no outer bars. */
const TABLE_ROW = /\|[^\n]*(?:\n[^\n]*)?$/
const MAX_ROW_LENGTH = 4_000
const SENTENCES = /^.*(?:[\p{L}\p{N}]{2}[)\]"'”’]*[.!?…:]["'”’)\]]*(?= )|[。！？])/u
/** Markup whose end has not arrived would be shown differently afterwards. */
const OPEN_MARKUP = /[*`~]|(?:^|\s)_|\[[^\]]*$/

export class PlainPrinter {
  readonly #options: PlainPrinterOptions
  #scrollback: ScrollbackState = EMPTY_SCROLLBACK
  #redrawCount = 0
  #confirmationId: string | undefined
  #connectionProblem: string | undefined
  #hasAnnouncedReasoning = false
  /** Printed lines of a block that may continue. */
  #printedLines: string[] = []
  /** Printed start of the line after them. */
  #printedStart = ''
  #isMidLine = false
  #waiters: (() => void)[] = []

  constructor(options: PlainPrinterOptions) {
    this.#options = options
  }

  print({ redrawCount, transcript, now, connectionProblem }: ChatState): void {
    // The transcript was replaced, as after /resume and /history.
    if (redrawCount !== this.#redrawCount) {
      this.#scrollback = EMPTY_SCROLLBACK
      this.#forgetPrinted()
    }
    this.#redrawCount = redrawCount
    if (this.#options.isEchoed && transcript.isAwaitingReply && transcript.entries[this.#scrollback.entries]?.kind === 'said')
      this.#scrollback = { ...this.#scrollback, entries: this.#scrollback.entries + 1 }
    const view = { columns: PLAIN_COLUMNS, now, details: false, hidesReasoning: true }
    const { state, done, live } = advanceScrollback(this.#scrollback, transcript, view)
    this.#scrollback = state
    const toText = (line: (typeof done)[number]) => toAnsi(line, false)
    this.#printReply(done.map(toText), canPrintLive(transcript.live, state) ? live.map(toText) : undefined)
    if (!transcript.live) this.#forgetPrinted()
    this.#announceReasoning(transcript.live)
    if (connectionProblem !== undefined && connectionProblem !== this.#connectionProblem) this.#printLine(sanitizeLine(connectionProblem))
    this.#connectionProblem = connectionProblem
    const tool = findPendingConfirmation(transcript)
    if (tool && tool.id !== this.#confirmationId) this.#printLine(this.#options.describeConfirmation(tool))
    this.#confirmationId = tool?.id
    if (tool) for (const resolve of this.#waiters.splice(0)) resolve()
  }

  /** Ends the current line, as after Ctrl+C, which the terminal shows in it. */
  breakLine(): void {
    this.#options.output.write('\n')
    this.#isMidLine = false
  }

  /** Resolves when a tool call needs a confirmation. */
  waitForConfirmation(): Promise<void> {
    return this.#confirmationId === undefined ? new Promise((resolve) => this.#waiters.push(resolve)) : Promise.resolve()
  }

  /** The next reply may contain the same lines. */
  #forgetPrinted(): void {
    this.#printedLines = []
    this.#printedStart = ''
  }

  #announceReasoning(live: ReplyState | undefined): void {
    const isReasoning = live?.parts.at(-1)?.kind === 'reasoning'
    if (isReasoning && !this.#hasAnnouncedReasoning) this.#printLine(THINKING)
    this.#hasAnnouncedReasoning = live !== undefined && (this.#hasAnnouncedReasoning || isReasoning)
  }

  /** Prints what is new. Live lines may change, so they are compared with the printed ones by their text. */
  #printReply(done: readonly string[], live: readonly string[] | undefined): void {
    const printed = this.#printedLines
    let position = 0
    let gap: string[] = []
    const print = (text: string) => {
      if (isBlank(text)) return void gap.push(text)
      const index = printed.indexOf(normalize(text), position)
      if (index >= 0) position = index + 1
      else this.#continueLine(text, gap, '\n')
      gap = []
    }
    for (const text of done) print(text)
    for (const text of gap.splice(0)) this.#printLine(text)
    for (const text of live?.slice(0, -1) ?? []) print(text)
    this.#printedLines = live
      ? live
          .slice(0, -1)
          .filter((text) => !isBlank(text))
          .map(normalize)
      : printed.slice(position)
    const [start] = SENTENCES.exec(live?.at(-1) ?? '') ?? []
    if (start === undefined || OPEN_MARKUP.test(start) || this.#findRest(start) === '') return
    this.#continueLine(start, gap, '')
    this.#printedStart = start
  }

  /** Prints the part of a line that is not printed yet. `gap`: empty lines before it. */
  #continueLine(text: string, gap: readonly string[], end: string): void {
    const rest = this.#findRest(text)
    if (rest === undefined) for (const line of gap) this.#printLine(line)
    if (rest === undefined && this.#isMidLine) this.breakLine()
    this.#options.output.write((rest ?? text) + end)
    this.#isMidLine = end === ''
    this.#printedStart = ''
  }

  /** Returns the text after its printed start, or undefined if another line was printed. The indentation may have changed. */
  #findRest(text: string): string | undefined {
    const start = this.#printedStart.trimStart()
    return start !== '' && text.trimStart().startsWith(start) ? text.trimStart().slice(start.length) : undefined
  }

  #printLine(text: string): void {
    if (this.#isMidLine) this.breakLine()
    this.#options.output.write(`${text}\n`)
  }
}

/** Running tool calls change, and the columns of a table depend on rows that have not arrived. */
function canPrintLive(reply: ReplyState | undefined, { reply: progress }: ScrollbackState): boolean {
  const part = reply?.parts.at(-1)
  return part?.kind === 'text' && progress?.parts === (reply?.parts.length ?? 0) - 1 && !TABLE_ROW.test(part.text.slice(-MAX_ROW_LENGTH))
}

const isBlank = (text: string) => /^[\s│]*$/.test(text)

/** Removes what changes when more text arrives: indentation, and markers of emphasis whose end arrives later. */
const normalize = (text: string) => text.replace(/[\s│*_`~]/g, '') || text
