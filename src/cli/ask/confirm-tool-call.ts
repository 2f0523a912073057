/** Asks the user to allow or refuse a tool call. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import type { ReplyEvents } from '../../contract/reply-events.ts'
import { setPermission } from '../resources/set-permission.ts'
import { paint } from '../terminal/color.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { canPrompt, withDialog } from '../terminal/prompts.ts'
import { sanitizeLine, sanitizeText } from '../terminal/text.ts'
import { type Arguments, type Confirmation, parseArguments, parseConfirmation } from './parse-confirmation.ts'

interface ConfirmationContext {
  connection: Connection
  conversation: string
  message: string
  /** Id of the agent; null if it was deleted. */
  agent: string | null
  /** Whether to allow tool calls without a prompt. */
  allowAll: boolean
  /** Ids of tools whose further calls of this reply are allowed. The daemon reads permissions only before a reply starts. */
  allowedTools: Set<string>
}

type ConfirmationRequest = ReplyEvents['confirmation_required']
type Decision = Confirmation & { arguments?: Arguments }

/** Sends the user's decision to the daemon. Without a terminal the tool call is refused. */
export async function confirmToolCall(
  request: ConfirmationRequest,
  { connection, conversation, message, agent, allowAll, allowedTools }: ConfirmationContext,
): Promise<void> {
  const params = { id: conversation, message_id: message }
  const preview = async (values: Arguments) => {
    const body = { tool_call_id: request.id, arguments: values }
    const { data } = await call(connection, conversationRoutes.confirm, { params, body })
    return { ...request, ...data }
  }
  // Calls without the id of a tool, such as those of memory after reading a document, are decided one by one.
  const isAllowed = request.tool_id !== undefined && (allowAll || allowedTools.has(request.tool_id))
  try {
    const { allow, always, arguments: changed }: Decision = isAllowed ? { allow: true } : await promptForConfirmation(request, preview)
    const body = { tool_call_id: request.id, allow, arguments: changed }
    await call(connection, conversationRoutes.confirm, { params, body })
    if (request.tool_id === undefined || always === undefined) return
    allowedTools.add(request.tool_id)
    if (always === 'all') await setPermission(connection, request.tool_id, undefined, true)
    else if (always === 'agent' && agent !== null) await setPermission(connection, request.tool_id, agent, true)
  } catch (error) {
    // Another client has decided, or the reply has ended: the following events show the outcome.
    // Members and editors cannot allow a tool for good.
    if (!(error instanceof CadreError) || !['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'].includes(error.code)) throw error
    connection.notify(sanitizeText(error.message))
  }
}

const ALWAYS = 'always for this [t]ool, always for this [a]gent, '

/** Repeats the prompt until the input is valid and the arguments are final. */
async function promptForConfirmation(
  request: ConfirmationRequest,
  preview: (values: Arguments) => Promise<ConfirmationRequest>,
): Promise<Decision> {
  const label = sanitizeLine(request.name)
  const canAllowAlways = request.tool_id !== undefined
  const reason = request.reason === undefined ? '' : `${paint('dim', sanitizeLine(request.reason))}\n`
  if (!canPrompt()) {
    const hint = canAllowAlways ? 'To allow it, use --allow-tools.' : 'To decide, ask at a terminal.'
    process.stderr.write(`${reason}${paint('yellow', `${label} needs confirmation, but there is no terminal: refused. ${hint}`)}\n`)
    return { allow: false }
  }
  process.stderr.write(formatRequest(`The agent wants to call ${paint('bold', label)}`, request) + reason)
  return withDialog(async (dialog) => {
    let changed: Arguments | undefined
    for (;;) {
      const answer = await dialog.ask(`Allow this call? [y]es, [N]o, ${canAllowAlways ? ALWAYS : ''}[e]dit the arguments: `)
      const confirmation = parseConfirmation(answer || 'no')
      if (confirmation && (canAllowAlways || confirmation.always === undefined))
        return { ...confirmation, ...(confirmation.allow && changed ? { arguments: changed } : {}) }
      const isEdit = /^e(dit)?$/i.test(answer)
      if (!isEdit && !answer.startsWith('{')) {
        process.stderr.write(`${paint('yellow', `Answer y, n${canAllowAlways ? ', t, a' : ''} or e.`)}\n`)
        continue
      }
      try {
        const values = parseArguments(isEdit ? await dialog.ask('Arguments as JSON, such as {"id": 42}: ') : answer)
        process.stderr.write(formatRequest(`${paint('bold', label)} with these arguments`, await preview(values)))
        changed = values
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        process.stderr.write(`${paint('yellow', sanitizeLine(error.message))}\n`)
      }
    }
  })
}

/** Further lines of a text are indented, so that they do not look like a question of Cadre. */
export function formatRequest(title: string, request: Pick<ConfirmationRequest, 'arguments' | 'method' | 'url'>): string {
  const { arguments: values, method, url } = request
  const lines = [
    ...(method === undefined || url === undefined ? [] : [`${method} ${url}`]),
    ...Object.entries(values).map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ].map((each) => `  ${sanitizeText(each).replaceAll('\n', '\n    ')}\n`)
  return `${title}${lines.length > 0 ? ':' : '.'}\n${lines.join('')}`
}
