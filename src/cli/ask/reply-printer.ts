/** Prints the output of `cadre ask`: the reply as it arrives on stdout, and tool calls on stderr. */
import { once } from 'node:events'
import type { Static } from 'typebox'
import type { Message } from '../../contract/families/conversations.ts'
import type { ReplyEvent, ReplyEvents } from '../../contract/reply-events.ts'
import { canRedraw, paint } from '../terminal/color.ts'
import { createProseWrapper } from '../terminal/format-prose.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { ProgressDisplay } from '../terminal/progress-bar.ts'
import type { StreamWrapper } from '../terminal/stream-wrapper.ts'
import { getOutput } from '../terminal/table.ts'
import { sanitizeLine, truncate } from '../terminal/text.ts'
import { formatCitations } from './format-citations.ts'

const MAX_ARGUMENTS_COLUMNS = 60

type Reply = Static<typeof Message>

export interface ReplyPrinterOptions {
  /** The question; its words are highlighted in citations. */
  question: string
  citations: boolean
  /** Whether to show whole passages instead of excerpts. */
  full: boolean
  quiet: boolean
}

/** Notes for finish reasons other than `stop`. */
export const FINISH_NOTES: Partial<Record<NonNullable<Reply['finish_reason']>, string>> = {
  length: 'The reply was truncated at the maximum length of the agent or model.',
  content_filter: 'The provider withheld the rest of the reply.',
  steps: 'The agent stopped: it reached its maximum number of tool steps.',
  aborted: 'The reply was aborted.',
  interrupted: 'The reply was interrupted: the daemon stopped.',
}

export class ReplyPrinter {
  readonly #options: ReplyPrinterOptions
  readonly #wrapper: StreamWrapper | undefined
  readonly #display: ProgressDisplay
  #lastCharacter = '\n'

  constructor(options: ReplyPrinterOptions) {
    this.#options = options
    // Piped output is data and is not wrapped.
    this.#wrapper = process.stdout.isTTY ? createProseWrapper(() => getOutput(process.stdout)) : undefined
    this.#display = new ProgressDisplay(options.quiet || !canRedraw(process.stderr))
  }

  /** Shows a spinner unless a line of the reply is unfinished. */
  showProgress(label: string): void {
    if (this.#lastCharacter === '\n') this.#display.show({ label, done: 0, total: null, unit: '' })
  }

  async print(event: ReplyEvent): Promise<void> {
    switch (event.event) {
      case 'message_delta':
        return this.#write(this.#wrapper ? this.#wrapper.push(event.data.text) : event.data.text)
      case 'retrieval':
        return this.#notify(`Found ${formatCount(event.data.citations.length, 'passage')}.`)
      case 'tool_call':
        await this.#notify(`Calling ${formatToolCall(event.data)}`)
        return this.showProgress(`Waiting for ${sanitizeLine(event.data.name)}`)
      case 'tool_result':
        await this.#notify(formatToolResult(event.data))
        return this.showProgress('Thinking')
      case 'message_end':
        return this.#finish(event.data.message)
      case 'error':
        return this.close()
    }
  }

  /** Clears the spinner and ends the current line, so that other output can be written. */
  async pause(): Promise<void> {
    this.#display.clear()
    // stdout and stderr share the screen, so a notice must not continue an unfinished line.
    if (this.#wrapper && process.stderr.isTTY) await this.#write(this.#wrapper.interrupt())
  }

  /** Called on Ctrl+C. */
  abort(): void {
    this.#display.end()
    process.stderr.write(`${this.#lastCharacter === '\n' ? '' : '\n'}${paint('dim', 'Aborted. The partial reply is kept.')}\n`)
  }

  async #finish(message: Reply): Promise<void> {
    await this.close()
    const { citations = [], finish_reason } = message
    const { question, full } = this.#options
    if (this.#options.citations) {
      const lines = formatCitations(citations, { query: question, output: getOutput(process.stdout), full })
      if (lines.length > 0) await this.#write(`${lines.join('\n')}\n`)
    }
    const note = finish_reason === undefined ? undefined : FINISH_NOTES[finish_reason]
    if (note) process.stderr.write(`${paint('yellow', note)}\n`)
  }

  /** Flushes the text and ends it with a newline. */
  async close(): Promise<void> {
    this.#display.end()
    if (this.#wrapper) await this.#write(this.#wrapper.end())
    if (this.#lastCharacter !== '\n') await this.#write('\n')
  }

  async #write(text: string): Promise<void> {
    if (text === '') return
    this.#display.clear()
    this.#lastCharacter = text.at(-1) ?? this.#lastCharacter
    // Respects backpressure of a slow reader.
    if (!process.stdout.write(text)) await once(process.stdout, 'drain')
  }

  async #notify(line: string): Promise<void> {
    if (this.#options.quiet) return
    await this.pause()
    process.stderr.write(`${paint('dim', truncate(line, getOutput(process.stderr).columns))}\n`)
  }
}

/** Returns `handbook (query: "leave")` on one line. */
export function formatToolCall({ name, arguments: values }: Pick<ReplyEvents['tool_call'], 'name' | 'arguments'>): string {
  const pairs = Object.entries(values).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return `${sanitizeLine(name)}${pairs.length === 0 ? '' : ` (${truncate(sanitizeLine(pairs.join(', ')), MAX_ARGUMENTS_COLUMNS)})`}`
}

function formatToolResult({ name, error, citations, confirmation, latency_ms }: ReplyEvents['tool_result']): string {
  if (confirmation === 'refused') return `${sanitizeLine(name)} was denied.`
  const elapsed = latency_ms === undefined ? '' : `, ${Math.round(latency_ms)} ms`
  if (error !== undefined) return `${sanitizeLine(name)} failed: ${truncate(sanitizeLine(error), 200)}`
  return `${sanitizeLine(name)}: ${citations ? formatCount(citations.length, 'passage') : 'done'}${elapsed}`
}
