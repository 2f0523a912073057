/** Prints a reply while it is generated, for `ask`, `quickstart` and `conversations show --follow`. */
import { once } from 'node:events'
import type { CompletionRequest } from '../../client/follow-completion.ts'
import { followReply, type ReplyRequest } from '../../client/follow-reply.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import type { ReplyEvent, ReplyEvents } from '../../contract/reply-events.ts'
import type { Message } from '../../contract/schemas/messages.ts'
import { canRedraw, paint } from '../terminal/color.ts'
import { ReportedError } from '../terminal/failures/command-errors.ts'
import { StreamSanitizer } from '../terminal/format-prose.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { rewriteReply } from '../terminal/invocation.ts'
import { MarkdownPrinter } from '../terminal/markdown/markdown-printer.ts'
import { ProgressDisplay } from '../terminal/progress-bar.ts'
import { formatJsonLine } from '../terminal/render.ts'
import { getOutput, type Output } from '../terminal/table.ts'
import { sanitizeLine, truncate } from '../terminal/text.ts'
import { confirmToolCall } from './confirm-tool-call.ts'
import { formatCitations } from './format-citations.ts'
import { formatHistoryNotes } from './notes/format-history.ts'
import { findRemembered, formatRemembered, formatUndo } from './notes/format-remembered.ts'

interface PrintReplyOptions {
  /** The question; its words are highlighted in citations. */
  question: string
  citations: boolean
  /** Whether to show whole passages instead of excerpts. */
  full: boolean
  quiet: boolean
  /** Whether to print events as JSON Lines instead of text. */
  json: boolean
  /** Whether to keep escape sequences of the reply if stdout is not a terminal. */
  raw?: boolean | undefined
  /** Whether to print plain text at a terminal, as in a pipe. */
  plain?: boolean | undefined
  /** How to confirm tool calls: prompt for each, allow all, or leave it to the client that sent the message. */
  tools: 'ask' | 'allow' | 'leave'
}

const MAX_RECONNECTS = 3
const MAX_ARGUMENTS_COLUMNS = 60
const FRAME_MS = 30

/** Prints the reply and returns it. Throws if it failed, was aborted or was interrupted. */
export async function printReply(
  connection: Connection,
  request: ReplyRequest | CompletionRequest,
  options: PrintReplyOptions,
): Promise<Message> {
  // Without a conversation there are no tools.
  const conversation = 'conversation' in request ? request.conversation : ''
  const printer = new ReplyPrinter({ ...options, conversation, quiet: options.quiet || options.json })
  const abort = () => printer.abort()
  process.prependOnceListener('SIGINT', abort)
  printer.showProgress('Thinking')
  let message = 'reply' in request ? request.reply : ''
  let agent: string | null = null
  let foundNothing = false
  const allowedTools = new Set<string>()
  try {
    for await (const event of await followRequest(connection, request)) {
      if (options.json) printer.printJson(event)
      else await printer.print(event)
      if (event.event === 'message_start') [message, agent] = [event.data.message_id, event.data.agent_id]
      if (event.event === 'confirmation_required' && options.tools !== 'leave') {
        await printer.pause()
        const allowAll = options.tools === 'allow'
        await confirmToolCall(event.data, { connection, conversation, message, agent, allowAll, allowedTools })
      }
      if (event.event === 'error') throw new CadreError(event.data.code, event.data.error, { hint: event.data.hint })
      if (event.event === 'retrieval') foundNothing = event.data.citations.length === 0
      if (event.event === 'message_end') {
        if (foundNothing && !options.quiet) await explainEmptySearch(connection, conversation)
        const { finish_reason } = event.data.message
        if (finish_reason === 'aborted' || finish_reason === 'interrupted') throw new ReportedError()
        return event.data.message
      }
    }
  } finally {
    process.removeListener('SIGINT', abort)
    await printer.close()
  }
  throw new Error('the reply ended without its last event') // followReply throws before this
}

type Follow = (request: ReplyRequest | CompletionRequest) => AsyncIterable<ReplyEvent>

async function followRequest(connection: Connection, request: ReplyRequest | CompletionRequest): Promise<AsyncIterable<ReplyEvent>> {
  const hasImages = 'images' in request && request.images !== undefined && request.images.length > 0
  const follow = await loadFollow(connection, request)
  if (!hasImages) return follow(request)
  const { followWithRecognizedText } = await import('../input/recognize-images.ts')
  return followWithRecognizedText(connection, request, follow, connection.notify)
}

async function loadFollow(connection: Connection, request: ReplyRequest | CompletionRequest): Promise<Follow> {
  if ('conversation' in request) return (sent) => followReply(connection, sent as ReplyRequest, { maxReconnects: MAX_RECONNECTS })
  const { followCompletion } = await import('../../client/follow-completion.ts')
  return (sent) => followCompletion(connection, sent as CompletionRequest)
}

/** Best effort: errors are ignored because the reply itself is complete. */
async function explainEmptySearch(connection: Connection, conversation: string): Promise<void> {
  const { reportUnreadSourcesOfConversation } = await import('./report-unread-sources.ts')
  await reportUnreadSourcesOfConversation(connection, conversation).catch(() => {})
}

/** Notes for finish reasons other than `stop`. */
export const FINISH_NOTES: Partial<Record<NonNullable<Message['finish_reason']>, string>> = {
  length: 'The reply was truncated at the maximum length of the agent or model.',
  content_filter: 'The provider withheld the rest of the reply.',
  steps: 'The agent stopped: it reached its maximum number of tool steps.',
  aborted: 'The reply was aborted.',
  interrupted: 'The reply was interrupted: the daemon stopped.',
}

/** Output as in a pipe: not wrapped and without colors. */
const PLAIN_OUTPUT: Output = { columns: Number.POSITIVE_INFINITY, stream: { isTTY: false } as NodeJS.WriteStream }

/** Writes the reply to stdout as it arrives, and tool calls to stderr. */
class ReplyPrinter {
  readonly #options: PrintReplyOptions & { conversation: string }
  readonly #markdown: MarkdownPrinter | undefined
  readonly #filter: MarkdownPrinter | StreamSanitizer | undefined
  readonly #display: ProgressDisplay
  #lastCharacter = '\n'
  #hasText = false
  /** Text that is drawn with the next frame. */
  #pending = ''
  #nextFrame: NodeJS.Timeout | undefined

  constructor(options: PrintReplyOptions & { conversation: string }) {
    this.#options = options
    // Piped output is data and is not rendered.
    this.#markdown = process.stdout.isTTY && !options.plain ? new MarkdownPrinter(() => getOutput(process.stdout)) : undefined
    this.#filter = this.#markdown ?? (options.raw ? undefined : new StreamSanitizer())
    this.#display = new ProgressDisplay(options.quiet || !canRedraw(process.stderr))
  }

  /** Shows a spinner unless a line of the reply is unfinished. */
  showProgress(label: string): void {
    if (this.#lastCharacter === '\n') this.#display.show({ label, done: 0, total: null, unit: '' })
  }

  printJson(event: ReplyEvent): void {
    this.#hasText ||= event.event === 'message_delta'
    process.stdout.write(`${formatJsonLine(event)}\n`)
  }

  async print(event: ReplyEvent): Promise<void> {
    switch (event.event) {
      case 'message_delta':
        return this.#printText(rewriteReply(event.data.text))
      case 'retrieval':
        return this.#notify(`Found ${formatCount(event.data.citations.length, 'passage')}.`)
      case 'tool_call':
        await this.#notify(`Calling ${formatToolCall(event.data)}`)
        return this.showProgress(`Waiting for ${sanitizeLine(event.data.name)}`)
      case 'tool_result':
        await this.#notify(formatToolResult(event.data))
        await this.#reportRemembered(event.data)
        return this.showProgress('Thinking')
      case 'message_end':
        return this.#finish(event.data.message)
      case 'error':
        return this.close()
    }
  }

  async #reportRemembered(result: ReplyEvents['tool_result']): Promise<void> {
    const remembered = findRemembered(result)
    if (!remembered) return
    await this.#notify(formatRemembered(remembered))
    // A command must be complete, also on a narrow terminal.
    if (!remembered.isKnown) await this.#notify(`To undo: ${formatUndo(remembered)}`, Number.POSITIVE_INFINITY)
  }

  #printText(text: string): Promise<void> {
    this.#hasText = true
    if (!this.#markdown) return this.#write(this.#filter ? this.#filter.push(text) : text)
    this.#pending += text
    this.#nextFrame ??= setTimeout(() => void this.#drawPending(), FRAME_MS)
    return Promise.resolve()
  }

  /** Draws several pieces at once: models send up to a thousand per second. */
  #drawPending(): Promise<void> {
    clearTimeout(this.#nextFrame)
    this.#nextFrame = undefined
    const text = this.#pending
    this.#pending = ''
    return this.#write(text === '' ? '' : (this.#markdown?.push(text) ?? ''))
  }

  /** Writes the text that was held back. */
  async #flush(): Promise<void> {
    await this.#drawPending()
    if (this.#filter) await this.#write(this.#filter.end())
  }

  /** Clears the spinner and ends the current line, so that other output can be written. */
  async pause(): Promise<void> {
    this.#display.clear()
    // stdout and stderr share the screen, so a notice must not continue an unfinished line.
    if (this.#markdown && process.stderr.isTTY) await this.#flush()
  }

  /** Called on Ctrl+C. Another client may continue to follow the reply. */
  abort(): void {
    this.#display.end()
    if (this.#markdown) void this.#flush()
    const note =
      this.#options.tools === 'leave'
        ? 'Stopped.'
        : this.#hasText && this.#options.conversation !== ''
          ? 'Aborted. The partial reply is kept.'
          : 'Aborted.'
    process.stderr.write(`${this.#lastCharacter === '\n' ? '' : '\n'}${paint('dim', note)}\n`)
  }

  async #finish(message: Message): Promise<void> {
    await this.close()
    const { citations = [], content, finish_reason } = message
    const { question, full } = this.#options
    if (this.#options.citations) {
      const output = this.#options.plain ? PLAIN_OUTPUT : getOutput(process.stdout)
      const lines = formatCitations(citations, content, { query: question, output, full })
      if (lines.length > 0) await this.#write(`${lines.join('\n')}\n`)
    }
    const note = finish_reason === undefined ? undefined : FINISH_NOTES[finish_reason]
    if (note) process.stderr.write(`${paint('yellow', note)}\n`)
    if (this.#options.quiet) return
    const history = formatHistoryNotes(message, `cadre conversations show ${this.#options.conversation}`)
    for (const line of history) process.stderr.write(`${paint('dim', line)}\n`)
  }

  /** Flushes the text and ends it with a newline. */
  async close(): Promise<void> {
    this.#display.end()
    await this.#flush()
    if (this.#lastCharacter !== '\n') await this.#write('\n')
  }

  async #write(text: string): Promise<void> {
    if (text === '') return
    this.#display.clear()
    this.#lastCharacter = text.at(-1) ?? this.#lastCharacter
    // Respects backpressure of a slow reader.
    if (!process.stdout.write(text)) await once(process.stdout, 'drain')
  }

  async #notify(line: string, columns = getOutput(process.stderr).columns): Promise<void> {
    if (this.#options.quiet) return
    await this.pause()
    process.stderr.write(`${paint('dim', truncate(line, columns))}\n`)
  }
}

/** Returns `handbook (query: "leave")` on one line. */
export function formatToolCall({ name, arguments: values }: Pick<ReplyEvents['tool_call'], 'name' | 'arguments'>): string {
  const pairs = Object.entries(values).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return `${sanitizeLine(name)}${pairs.length === 0 ? '' : ` (${truncate(sanitizeLine(pairs.join(', ')), MAX_ARGUMENTS_COLUMNS)})`}`
}

function formatToolResult({ name, error, citations, confirmation, latency_ms }: ReplyEvents['tool_result']): string {
  if (confirmation === 'refused') return `${sanitizeLine(name)} was refused.`
  const elapsed = latency_ms === undefined ? '' : `, ${Math.round(latency_ms)} ms`
  if (error !== undefined) return `${sanitizeLine(name)} failed: ${truncate(sanitizeLine(error), 200)}`
  return `${sanitizeLine(name)}: ${citations ? formatCount(citations.length, 'passage') : 'done'}${elapsed}`
}
