/** A reply for people as it is written: its text on stdout, and on stderr what the agent does meanwhile. */
import { once } from 'node:events'
import type { Static } from 'typebox'
import type { Message } from '../../contract/families/conversations.ts'
import type { ReplyEvent, ReplyEvents } from '../../contract/reply-events.ts'
import { canRedraw, paint } from '../terminal/color.ts'
import { createProseWrapper } from '../terminal/format-prose.ts'
import { ProgressDisplay } from '../terminal/progress-bar.ts'
import type { StreamWrapper } from '../terminal/stream-wrapper.ts'
import { getOutput } from '../terminal/table.ts'
import { oneLine, truncate } from '../terminal/text.ts'
import { formatCitations } from './format-citations.ts'

const MAX_ARGUMENTS_COLUMNS = 60

type Reply = Static<typeof Message>

export interface ReplyPrinterOptions {
  /** What was asked; its words are marked in what the reply cites. */
  question: string
  citations: boolean
  /** The whole of what is cited, instead of the part that fits best. */
  full: boolean
  quiet: boolean
}

/** What a reply ended with that the reader should know. */
export const FINISH_NOTES: Partial<Record<NonNullable<Reply['finish_reason']>, string>> = {
  length: "The reply was cut: it reached the agent's or the model's longest.",
  content_filter: 'The provider withheld the rest of the reply.',
  steps: 'The agent used its tools as often as it may, and stopped there.',
  aborted: 'The reply was aborted.',
  interrupted: 'The reply was interrupted: the daemon stopped.',
}

export class ReplyPrinter {
  readonly #options: ReplyPrinterOptions
  readonly #wrapper: StreamWrapper | undefined
  readonly #display: ProgressDisplay
  #lastCharacter = '\n'

  constructor(view: ReplyPrinterOptions) {
    this.#options = view
    // What is piped is data: it goes on as it came.
    this.#wrapper = process.stdout.isTTY ? createProseWrapper(() => getOutput(process.stdout)) : undefined
    this.#display = new ProgressDisplay(view.quiet || !canRedraw(process.stderr))
  }

  /** Shows that something is being waited for, where that takes nothing away. */
  showProgress(label: string): void {
    if (this.#lastCharacter === '\n') this.#display.show({ label, done: 0, total: null, unit: '' })
  }

  async print(event: ReplyEvent): Promise<void> {
    switch (event.event) {
      case 'message_delta':
        return this.#write(this.#wrapper ? this.#wrapper.push(event.data.text) : event.data.text)
      case 'retrieval':
        return this.#narrate(`Read ${formatPassageCount(event.data.citations.length)}.`)
      case 'tool_call':
        await this.#narrate(`Uses ${formatToolCall(event.data)}`)
        return this.showProgress(`Waiting for ${oneLine(event.data.name)}`)
      case 'tool_result':
        await this.#narrate(formatToolResult(event.data))
        return this.showProgress('Thinking')
      case 'message_end':
        return this.#finish(event.data.message)
      case 'error':
        return this.close()
    }
  }

  /** Lets the reader say something in between; what is shown meanwhile begins a line of its own. */
  async pause(): Promise<void> {
    this.#display.clear()
    // Where both share a screen, what is said in between must not stand behind half a sentence.
    if (this.#wrapper && process.stderr.isTTY) await this.#write(this.#wrapper.interrupt())
  }

  /** The reader has had enough. */
  abort(): void {
    this.#display.end()
    process.stderr.write(`${this.#lastCharacter === '\n' ? '' : '\n'}${paint('dim', 'Aborted; what was written is kept.')}\n`)
  }

  async #finish(message: Reply): Promise<void> {
    await this.close()
    const { citations = [], finish_reason } = message
    const { question, full } = this.#options
    if (this.#options.citations) {
      const lines = formatCitations(citations, { query: question, paper: getOutput(process.stdout), full })
      if (lines.length > 0) await this.#write(`${lines.join('\n')}\n`)
    }
    const ending = finish_reason === undefined ? undefined : FINISH_NOTES[finish_reason]
    if (ending) process.stderr.write(`${paint('yellow', ending)}\n`)
  }

  /** Nothing follows. The text ends with a line end, whatever the model thinks of that. */
  async close(): Promise<void> {
    this.#display.end()
    if (this.#wrapper) await this.#write(this.#wrapper.end())
    if (this.#lastCharacter !== '\n') await this.#write('\n')
  }

  async #write(text: string): Promise<void> {
    if (text === '') return
    this.#display.clear()
    this.#lastCharacter = text.at(-1) ?? this.#lastCharacter
    // A reader that is slower than the model is waited for.
    if (!process.stdout.write(text)) await once(process.stdout, 'drain')
  }

  async #narrate(line: string): Promise<void> {
    if (this.#options.quiet) return
    await this.pause()
    process.stderr.write(`${paint('dim', truncate(line, getOutput(process.stderr).columns))}\n`)
  }
}

const formatPassageCount = (count: number) => (count === 1 ? '1 passage' : `${count} passages`)

/** `handbook (query: "leave")`, on one line. */
export function formatToolCall({ name, arguments: given }: Pick<ReplyEvents['tool_call'], 'name' | 'arguments'>): string {
  const values = Object.entries(given).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return `${oneLine(name)}${values.length === 0 ? '' : ` (${truncate(oneLine(values.join(', ')), MAX_ARGUMENTS_COLUMNS)})`}`
}

function formatToolResult({ name, error, citations, confirmation, latency_ms }: ReplyEvents['tool_result']): string {
  if (confirmation === 'refused') return `${oneLine(name)} was not allowed.`
  const took = latency_ms === undefined ? '' : `, ${Math.round(latency_ms)} ms`
  if (error !== undefined) return `${oneLine(name)} failed: ${truncate(oneLine(error), 200)}`
  return `${oneLine(name)}: ${citations ? formatPassageCount(citations.length) : 'done'}${took}`
}
