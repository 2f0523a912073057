/** Prints a reply while it is generated, for `ask` and `conversations show --follow`. */
import { followReply, type ReplyRequest } from '../../client/follow-reply.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import type { ReplyEvents } from '../../contract/reply-events.ts'
import { ReportedError } from '../terminal/errors.ts'
import { formatJsonLine } from '../terminal/render.ts'
import { confirmToolCall } from './confirm-tool-call.ts'
import { ReplyPrinter, type ReplyPrinterOptions } from './reply-printer.ts'

interface PrintReplyOptions extends ReplyPrinterOptions {
  /** Whether to print events as JSON Lines instead of text. */
  json: boolean
  /** How to confirm tool calls: prompt for each, allow all, or leave it to the client that sent the message. */
  tools: 'ask' | 'allow' | 'leave'
}

export type Reply = ReplyEvents['message_end']['message']

const MAX_RECONNECTS = 3

/** Prints the reply and returns it. Throws if it failed, was aborted or was interrupted. */
export async function printReply(connection: Connection, request: ReplyRequest, options: PrintReplyOptions): Promise<Reply> {
  const { conversation } = request
  const printer = new ReplyPrinter({ ...options, quiet: options.quiet || options.json })
  const abort = () => printer.abort()
  process.prependOnceListener('SIGINT', abort)
  printer.showProgress('Thinking')
  let message = 'reply' in request ? request.reply : ''
  let foundNothing = false
  try {
    for await (const event of followReply(connection, request, { maxReconnects: MAX_RECONNECTS })) {
      if (options.json) process.stdout.write(`${formatJsonLine(event)}\n`)
      else await printer.print(event)
      if (event.event === 'message_start') message = event.data.message_id
      if (event.event === 'confirmation_required' && options.tools !== 'leave') {
        await printer.pause()
        await confirmToolCall(event.data, { connection, conversation, message, allowAll: options.tools === 'allow' })
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

/** Best effort: errors are ignored because the reply itself is complete. */
async function explainEmptySearch(connection: Connection, conversation: string): Promise<void> {
  const { reportUnreadSourcesOfConversation } = await import('./report-unread-sources.ts')
  await reportUnreadSourcesOfConversation(connection, conversation).catch(() => {})
}
