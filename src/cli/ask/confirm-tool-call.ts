/** Asks the user to approve or deny a tool call. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import type { ReplyEvents } from '../../contract/reply-events.ts'
import { paint } from '../terminal/color.ts'
import { askYesNo, canPrompt } from '../terminal/prompts.ts'
import { sanitizeLine, sanitizeText } from '../terminal/text.ts'

interface ConfirmationContext {
  connection: Connection
  conversation: string
  message: string
  /** Whether to allow tool calls without a prompt. */
  allowAll: boolean
}

type ConfirmationRequest = ReplyEvents['confirmation_required']

/** Sends the user's decision to the daemon. Without a terminal the tool call is denied. */
export async function confirmToolCall(
  { id, name, arguments: values }: ConfirmationRequest,
  { connection, conversation, message, allowAll }: ConfirmationContext,
): Promise<void> {
  const allow = allowAll || (await promptForApproval(sanitizeLine(name), values))
  try {
    const params = { id: conversation, message_id: message }
    await call(connection, conversationRoutes.confirm, { params, body: { tool_call_id: id, allow } })
  } catch (error) {
    // Another client has decided, or the reply has ended: the following events show the outcome.
    if (!(error instanceof CadreError) || !['NOT_FOUND', 'CONFLICT'].includes(error.code)) throw error
    connection.notify(sanitizeText(error.message))
  }
}

async function promptForApproval(name: string, values: Record<string, unknown>): Promise<boolean> {
  if (!canPrompt()) {
    process.stderr.write(
      `${paint('yellow', `${name} needs confirmation, but there is no terminal: denied. To allow it, use --allow-tools.`)}\n`,
    )
    return false
  }
  const lines = Object.entries(values).map(
    ([key, value]) => `  ${sanitizeText(`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)}`,
  )
  process.stderr.write(
    `The agent wants to call ${paint('bold', name)}${lines.length > 0 ? ' with:' : '.'}\n${lines.map((line) => `${line}\n`).join('')}`,
  )
  return askYesNo('Allow this call?')
}
