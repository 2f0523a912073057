/** Asks the user to approve or deny a tool call. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import type { ReplyEvents } from '../../contract/reply-events.ts'
import { setPermission } from '../resources/set-permission.ts'
import { paint } from '../terminal/color.ts'
import { canPrompt, withDialog } from '../terminal/prompts.ts'
import { sanitizeLine, sanitizeText } from '../terminal/text.ts'

interface ConfirmationContext {
  connection: Connection
  conversation: string
  message: string
  /** Id of the agent; null if it was deleted. */
  agent: string | null
  /** Whether to allow tool calls without a prompt. */
  allowAll: boolean
}

type ConfirmationRequest = ReplyEvents['confirmation_required']

/** Sends the user's decision to the daemon. Without a terminal the tool call is denied. */
export async function confirmToolCall(
  request: ConfirmationRequest,
  { connection, conversation, message, agent, allowAll }: ConfirmationContext,
): Promise<void> {
  const { allow, always, arguments: changed } = allowAll ? { allow: true } : await promptForApproval(request)
  try {
    const params = { id: conversation, message_id: message }
    const body = { tool_call_id: request.id, allow, ...(changed ? { arguments: changed } : {}) }
    await call(connection, conversationRoutes.confirm, { params, body })
    if (request.tool_id === undefined) return
    if (always === 'tool') await setPermission(connection, request.tool_id, undefined, true)
    else if (always === 'agent' && agent !== null) await setPermission(connection, request.tool_id, agent, true)
  } catch (error) {
    // Another client has decided, or the reply has ended: the following events show the outcome.
    // Members and editors cannot allow a tool for good.
    if (!(error instanceof CadreError) || !['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'].includes(error.code)) throw error
    connection.notify(sanitizeText(error.message))
  }
}

interface Approval {
  allow: boolean
  always?: 'tool' | 'agent'
  arguments?: Record<string, unknown>
}

const ANSWERS = '[y]es, [N]o, always for this [t]ool, always for this [a]gent, or other arguments as JSON'

async function promptForApproval(request: ConfirmationRequest): Promise<Approval> {
  const label = sanitizeLine(request.name)
  if (!canPrompt()) {
    process.stderr.write(
      `${paint('yellow', `${label} needs confirmation, but there is no terminal: denied. To allow it, use --allow-tools.`)}\n`,
    )
    return { allow: false }
  }
  const lines = formatCall(request)
  process.stderr.write(`The agent wants to call ${paint('bold', label)}${lines.length > 0 ? ':' : '.'}\n${lines.join('')}`)
  return withDialog(async (dialog) => {
    for (;;) {
      const approval = parseApproval(await dialog.ask(`Allow this call? ${ANSWERS} `))
      if (approval) return approval
      process.stderr.write(`${paint('yellow', 'The arguments must be a JSON object, such as {"id": 42}.')}\n`)
    }
  })
}

/** Further lines of a text are indented, so that they do not look like a question of Cadre. */
export function formatCall({ arguments: values, method, url }: Pick<ConfirmationRequest, 'arguments' | 'method' | 'url'>): string[] {
  return [
    ...(method === undefined || url === undefined ? [] : [`${method} ${url}`]),
    ...Object.entries(values).map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ].map((each) => `  ${sanitizeText(each).replaceAll('\n', '\n    ')}\n`)
}

/** Returns undefined for arguments that cannot be read. Other answers than those offered deny the call. */
function parseApproval(answer: string): Approval | undefined {
  if (/^(t|tool|always)$/i.test(answer)) return { allow: true, always: 'tool' }
  if (/^(a|agent)$/i.test(answer)) return { allow: true, always: 'agent' }
  if (!/^[{[]/.test(answer)) return { allow: /^y(es)?$/i.test(answer) }
  try {
    const values: unknown = JSON.parse(answer)
    return Array.isArray(values) ? undefined : { allow: true, arguments: values as Record<string, unknown> }
  } catch {
    return undefined // asked again
  }
}
