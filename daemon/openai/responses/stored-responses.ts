/** Responses that are stored as replies of conversations. */
import { CadreError } from '../../../src/contract/errors.ts'
import { createOpenaiError } from '../../../src/contract/openai/errors.ts'
import type { OpenaiResponse } from '../../../src/contract/openai/responses.ts'
import type { Message } from '../../../src/contract/schemas/messages.ts'
import type { AgentsService } from '../../agents/service.ts'
import type { ConversationsService } from '../../conversations/service.ts'
import type { Caller, ChangeContext } from '../../core/caller.ts'
import { getSeconds, replacePrefix } from '../reply-format.ts'
import { createResponse, formatResponse } from './format-response.ts'

const PREFIX = 'resp_'

export function createStoredResponses(agents: AgentsService, conversations: ConversationsService) {
  async function get(caller: Caller, id: string): Promise<OpenaiResponse> {
    const { conversation, reply } = await require(caller, id)
    const agent = conversation.agent_id === null ? undefined : await agents.findView(agents.database, conversation.agent_id)
    const format = {
      messageId: reply.id,
      model: agent?.name ?? conversation.deleted_agent_id ?? '',
      conversationId: conversation.id,
      clientTools: [],
      listsSources: !isJson(reply.content),
      request: {},
      createdAt: getSeconds(reply.timestamp),
    }
    const { finish_reason } = reply
    if (finish_reason === undefined) return createResponse(format, { status: 'in_progress', output: [] })
    const response = formatResponse(reply, format, listStoredClientCalls(reply))
    if (finish_reason === 'aborted') return { ...response, status: 'cancelled' }
    const error = getFailure(reply)
    return error ? { ...response, status: 'failed', error } : response
  }

  async function remove(
    change: ChangeContext,
    id: string,
    signal: AbortSignal,
  ): Promise<{ id: string; object: 'response'; deleted: true }> {
    const { conversation, reply } = await require(change.caller, id)
    await conversations.removeReply(change, conversation.id, reply.id, signal)
    return { id, object: 'response', deleted: true }
  }

  async function require(caller: Caller, id: string) {
    const found = id.startsWith(PREFIX) ? await conversations.findReply(caller, replacePrefix(id, 'msg_')) : undefined
    if (found) return found
    throw new CadreError('NOT_FOUND', `There is no stored response "${id}".`, {
      details: [{ field: 'response_id', problem: 'does not exist' }],
      hint: 'Only responses with store: true are stored.',
    })
  }

  return { get, remove }
}

export type StoredResponses = ReturnType<typeof createStoredResponses>

/** Calls that Cadre executed have a duration, others an error. */
const listStoredClientCalls = ({ finish_reason, tool_calls = [] }: Message) =>
  finish_reason === 'tool_calls' ? tool_calls.filter(({ latency_ms, error }) => latency_ms === undefined && error === undefined) : []

function getFailure({ finish_reason, error, error_code = 'INTERNAL' }: Message): OpenaiResponse['error'] {
  if (finish_reason === 'interrupted') return { code: 'server_error', message: 'The daemon stopped.' }
  if (finish_reason !== 'error') return null
  const failure = createOpenaiError(new CadreError(error_code, error ?? 'The reply failed.')).error
  return { code: failure.code ?? 'server_error', message: failure.message }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
