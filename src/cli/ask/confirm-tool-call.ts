/** A tool that asks before it is used: allowed or refused by whoever sits at the terminal. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import type { ReplyEvents } from '../../contract/reply-events.ts'
import { paint } from '../terminal/color.ts'
import { askYesNo, canPrompt } from '../terminal/prompts.ts'
import { oneLine, sanitizeText } from '../terminal/text.ts'

export interface ConfirmationContext {
  connection: Connection
  conversation: string
  message: string
  /** Allow without asking. */
  allowAll: boolean
}

type ConfirmationRequest = ReplyEvents['confirmation_required']

/** Asks where somebody can answer; elsewhere the tool is refused, which the model is told. */
export async function confirmToolCall(
  { id, name, arguments: given }: ConfirmationRequest,
  { connection, conversation, message, allowAll: all }: ConfirmationContext,
): Promise<void> {
  const allow = all || (await promptForApproval(name, given))
  try {
    const params = { id: conversation, message_id: message }
    await call(connection, conversationRoutes.confirm, { params, body: { tool_call_id: id, allow } })
  } catch (error) {
    // Somebody else answered, or the reply is over: its events tell how it went on.
    if (!(error instanceof CadreError) || !['NOT_FOUND', 'CONFLICT'].includes(error.code)) throw error
    connection.narrate(sanitizeText(error.message))
  }
}

async function promptForApproval(name: string, given: Record<string, unknown>): Promise<boolean> {
  const shown = oneLine(name)
  if (!canPrompt()) {
    process.stderr.write(
      `${paint('yellow', `${shown} asks before it is used, and there is no terminal to answer at: refused. --allow-tools allows it.`)}\n`,
    )
    return false
  }
  const lines = Object.entries(given).map(
    ([key, value]) => `  ${sanitizeText(`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)}`,
  )
  process.stderr.write(
    `${paint('bold', shown)} wants to be used${lines.length > 0 ? ' with:' : '.'}\n${lines.map((line) => `${line}\n`).join('')}`,
  )
  return askYesNo('Allow it?')
}
