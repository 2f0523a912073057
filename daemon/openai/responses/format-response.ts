import type { FunctionCall, OpenaiResponse, OutputMessage, OutputText, ResponseCreate } from '../../../src/contract/openai/responses.ts'
import type { Message, ToolCall } from '../../../src/contract/schemas/messages.ts'
import { getSources, listClientCalls, type ReplyFormat, replacePrefix } from '../reply-format.ts'
import { locateCitations } from '../sources.ts'

export interface ResponseFormatting extends ReplyFormat {
  request: Partial<ResponseCreate>
  /** In seconds since 1970. */
  createdAt: number
}

type State = Pick<OpenaiResponse, 'status' | 'output'> & Partial<OpenaiResponse>

/** @param clientCalls calls that the client executes */
export function formatResponse(
  message: Message,
  format: ResponseFormatting,
  clientCalls: readonly ToolCall[] = listClientCalls(message, format),
): OpenaiResponse {
  const calls = clientCalls.map((call) => formatCall(call))
  const text = message.content + getSources(message, format)
  const isIncomplete = getStatus(message) === 'incomplete'
  return createResponse(format, {
    status: getStatus(message),
    incomplete_details: isIncomplete
      ? { reason: message.finish_reason === 'content_filter' ? 'content_filter' : 'max_output_tokens' }
      : null,
    output: [...(text === '' && calls.length > 0 ? [] : [formatMessage(message, text, format)]), ...calls],
    usage: formatUsage(message),
    ...(message.citations?.length ? { citations: message.citations } : {}),
    ...(message.confidence ? { confidence: message.confidence } : {}),
  })
}

/** Repeats the settings of the request, as OpenAI does. */
export function createResponse({ messageId, model, conversationId, request, createdAt }: ResponseFormatting, state: State): OpenaiResponse {
  return {
    id: replacePrefix(messageId, 'resp_'),
    object: 'response',
    created_at: createdAt,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    model,
    parallel_tool_calls: true,
    previous_response_id: request.previous_response_id ?? null,
    conversation: conversationId === null ? null : { id: conversationId },
    store: conversationId !== null,
    temperature: request.temperature ?? null,
    top_p: request.top_p ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    text: { format: { ...(request.text?.format ?? { type: 'text' }) } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: (request.tools ?? []).map((tool) => ({ ...tool })),
    truncation: 'auto',
    metadata: request.metadata ?? {},
    usage: null,
    ...state,
  }
}

export const formatMessage = (message: Message, text: string, { messageId }: ResponseFormatting): OutputMessage => ({
  type: 'message',
  id: messageId,
  status: getStatus(message),
  role: 'assistant',
  content: [formatText(text, message)],
})

export const formatText = (text: string, { citations = [], content }: Pick<Message, 'citations' | 'content'>): OutputText => ({
  type: 'output_text',
  text,
  annotations: locateCitations(content, citations).map(({ citation: { document_id, source }, position }) => ({
    type: 'file_citation',
    file_id: document_id,
    filename: source,
    index: position,
  })),
  logprobs: [],
})

export const formatCall = ({ id, name, arguments: input }: ToolCall, status: FunctionCall['status'] = 'completed'): FunctionCall => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: JSON.stringify(input),
  status,
})

export const getStatus = ({ finish_reason = 'stop' }: Message): 'completed' | 'incomplete' =>
  ['length', 'content_filter', 'steps'].includes(finish_reason) ? 'incomplete' : 'completed'

function formatUsage({ usage }: Message): OpenaiResponse['usage'] {
  const { input_tokens = 0, output_tokens = 0, total_tokens = 0 } = usage ?? {}
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens,
  }
}
