/** Formats replies as chat completions, complete or in chunks. */
import type { ChatCompletion, ChatCompletionChunk } from '../../../src/contract/openai/chat-completions.ts'
import type { ReplyEvent } from '../../../src/contract/reply-events.ts'
import type { StreamEvent } from '../../../src/contract/route.ts'
import type { Message, ToolCall } from '../../../src/contract/schemas/messages.ts'
import { createErrorEvent, getSeconds, getSources, listClientCalls, type ReplyFormat, replacePrefix } from '../reply-format.ts'

interface ChatFormat extends ReplyFormat {
  includesUsage: boolean
}

type FinishReason = ChatCompletion['choices'][number]['finish_reason']

export function formatChatCompletion(message: Message, format: ChatFormat): ChatCompletion {
  const calls = listClientCalls(message, format).map(formatCall)
  const content = message.content + getSources(message, format)
  return {
    id: replacePrefix(format.messageId, 'chatcmpl-'),
    object: 'chat.completion',
    created: getSeconds(message.timestamp),
    model: format.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && calls.length > 0 ? null : content,
          refusal: null,
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
        finish_reason: getFinishReason(message),
        logprobs: null,
      },
    ],
    usage: formatUsage(message),
    ...formatExtras(message, format),
  }
}

/** Yields chunks, and `[DONE]` at the end. */
export async function* streamChatCompletion(events: AsyncIterable<StreamEvent>, format: ChatFormat): AsyncGenerator<StreamEvent> {
  const base = {
    id: replacePrefix(format.messageId, 'chatcmpl-'),
    object: 'chat.completion.chunk' as const,
    created: Math.floor(Date.now() / 1000),
    model: format.model,
  }
  const noUsage = format.includesUsage ? { usage: null } : {}
  const createChunk = (
    delta: ChatCompletionChunk['choices'][number]['delta'],
    finish_reason: FinishReason | null = null,
    extras: Partial<ChatCompletionChunk> = {},
  ): StreamEvent => {
    const data: ChatCompletionChunk = { ...base, choices: [{ index: 0, delta, finish_reason, logprobs: null }], ...noUsage, ...extras }
    return { event: 'message', data }
  }
  for await (const { event, data } of events as AsyncIterable<ReplyEvent>) {
    if (event === 'message_start') yield createChunk({ role: 'assistant', content: '' })
    if (event === 'message_delta') yield createChunk({ content: data.text })
    if (event === 'error') return yield createErrorEvent(data)
    if (event !== 'message_end') continue
    const { message } = data
    const sources = getSources(message, format)
    if (sources !== '') yield createChunk({ content: sources })
    const calls = listClientCalls(message, format)
    if (calls.length > 0) yield createChunk({ tool_calls: calls.map((call, index) => ({ index, ...formatCall(call) })) })
    yield createChunk({}, getFinishReason(message), formatExtras(message, format))
    if (format.includesUsage) yield { event: 'message', data: { ...base, choices: [], usage: formatUsage(message) } }
    yield { event: 'message', data: '[DONE]' }
  }
}

const formatCall = ({ id, name, arguments: input }: ToolCall) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: JSON.stringify(input) },
})

function formatUsage({ usage }: Message): ChatCompletion['usage'] {
  const { input_tokens = 0, output_tokens = 0, total_tokens = 0 } = usage ?? {}
  return { prompt_tokens: input_tokens, completion_tokens: output_tokens, total_tokens }
}

const formatExtras = ({ citations = [], confidence }: Message, { conversationId }: ChatFormat) => ({
  ...(citations.length > 0 ? { citations } : {}),
  ...(confidence ? { confidence } : {}),
  ...(conversationId === null ? {} : { conversation_id: conversationId }),
})

/** A reply that reached the limit of tool steps is incomplete, as one that reached the limit of tokens. */
function getFinishReason({ finish_reason }: Message): FinishReason {
  if (finish_reason === 'steps') return 'length'
  return finish_reason === 'length' || finish_reason === 'tool_calls' || finish_reason === 'content_filter' ? finish_reason : 'stop'
}
