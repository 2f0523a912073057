/** Follows the reply of a model without an agent, as the events that a reply in a conversation has. Nothing is stored. */
import { CadreError } from '../contract/errors.ts'
import type { ChatCompletionChunk } from '../contract/openai/chat-completions.ts'
import { parseOpenaiError } from '../contract/openai/errors.ts'
import { openaiRoutes } from '../contract/openai/routes.ts'
import type { ReplyEvent } from '../contract/reply-events.ts'
import type { MessageImage } from '../contract/schemas/images.ts'
import type { Message } from '../contract/schemas/messages.ts'
import { stream } from './call.ts'
import { UnreachableError } from './errors.ts'
import type { Connection } from './request.ts'

export interface CompletionRequest {
  /** Identifier of the model. */
  model: string
  system: string | undefined
  message: string
  images: readonly MessageImage[]
}

/** Ends with message_end or error. Throws an UnreachableError if the connection is lost before. */
export async function* followCompletion(connection: Connection, request: CompletionRequest): AsyncGenerator<ReplyEvent, void> {
  const startTime = performance.now()
  const reply: Message = { id: '', role: 'assistant', content: '', timestamp: new Date().toISOString(), model_id: request.model }
  try {
    for await (const { data } of stream(connection, openaiRoutes.createChatCompletion, { body: buildBody(request) })) {
      if (data === '[DONE]') {
        yield { event: 'message_end', data: { message: { ...reply, latency_ms: performance.now() - startTime } } }
        return
      }
      const chunk = JSON.parse(data) as ChatCompletionChunk
      const failure = parseOpenaiError(chunk)
      if (failure) {
        yield { event: 'error', data: { error: failure.message, code: failure.code } }
        return
      }
      if (reply.id === '') {
        reply.id = chunk.id
        const ids = { conversation_id: '', message_id: chunk.id, user_message_id: '', model_id: request.model, agent_id: null }
        yield { event: 'message_start', data: ids }
      }
      const text = readChunk(reply, chunk)
      if (text !== '') yield { event: 'message_delta', data: { text } }
    }
  } catch (error) {
    if (error instanceof CadreError || error instanceof UnreachableError) throw error
    throw createLostError(error)
  }
  throw createLostError()
}

const createLostError = (cause?: unknown) =>
  new UnreachableError('The connection was lost before the reply was complete.', { hint: 'Nothing was stored; ask again.', cause })

function buildBody({ model, system, message, images }: CompletionRequest) {
  const parts = images.map(({ type, data }) => ({
    type: 'image_url' as const,
    image_url: { url: `data:${type};base64,${data}` },
  }))
  const content = images.length === 0 ? message : [{ type: 'text' as const, text: message }, ...parts]
  const instructions = system === undefined ? [] : [{ role: 'system' as const, content: system }]
  return {
    model,
    messages: [...instructions, { role: 'user' as const, content }],
    stream: true,
    stream_options: { include_usage: true },
  }
}

/** Adds a chunk to the reply and returns its text. */
function readChunk(reply: Message, { choices: [choice], usage }: ChatCompletionChunk): string {
  const text = choice?.delta.content ?? ''
  reply.content += text
  if (choice?.finish_reason != null) reply.finish_reason = choice.finish_reason
  if (usage) reply.usage = { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens, total_tokens: usage.total_tokens }
  return text
}
