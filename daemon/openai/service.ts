/** The OpenAI-compatible API: finds the agent or model, starts the reply and formats it. */
import { createValidationError } from '../../src/contract/errors.ts'
import type { ChatCompletion, ChatCompletionCreate } from '../../src/contract/openai/chat-completions.ts'
import type { OpenaiResponse, ResponseCreate } from '../../src/contract/openai/responses.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import type { Message } from '../../src/contract/schemas/messages.ts'
import type { CompletionStorage, CompletionsService } from '../conversations/completion-service.ts'
import type { ChangeContext } from '../core/caller.ts'
import { DeferredResponse } from '../core/deferred-response.ts'
import type { Outbound } from '../outbound/client.ts'
import { formatChatCompletion, streamChatCompletion } from './chat/format-chat.ts'
import { parseChatRequest } from './chat/parse-chat-request.ts'
import { createImageLoader } from './image-loader.ts'
import type { ModelDirectory } from './model-directory.ts'
import type { ParsedRequest } from './parse-request.ts'
import { type ReplyFormat, replacePrefix } from './reply-format.ts'
import { formatResponse } from './responses/format-response.ts'
import { parseResponseRequest } from './responses/parse-response-request.ts'
import { streamResponse } from './responses/stream-response.ts'

interface OpenaiDependencies {
  directory: ModelDirectory
  completions: CompletionsService
  outbound: Outbound
}

interface CallContext {
  change: ChangeContext
  /** The conversation of the Cadre-Conversation header. */
  conversationId: string | undefined
  signal: AbortSignal
}

type Formatted<T> = DeferredResponse<T | AsyncIterable<StreamEvent>>

export class OpenaiService {
  readonly #dependencies: OpenaiDependencies

  constructor(dependencies: OpenaiDependencies) {
    this.#dependencies = dependencies
  }

  async createChatCompletion(context: CallContext, body: ChatCompletionCreate): Promise<Formatted<ChatCompletion>> {
    const request = await parseChatRequest(body, createImageLoader(this.#dependencies.outbound, context.signal))
    const { conversationId } = context
    const storage = body.store || conversationId !== undefined ? { conversationId, readsHistory: false } : undefined
    const { response, format: common } = await this.#start(context, body, request, storage)
    const format = { ...common, includesUsage: body.stream_options?.include_usage === true }
    return respond(
      response,
      (message) => formatChatCompletion(message, format),
      (events) => streamChatCompletion(events, format),
    )
  }

  async createResponse(context: CallContext, body: ResponseCreate): Promise<Formatted<OpenaiResponse>> {
    const request = await parseResponseRequest(body, createImageLoader(this.#dependencies.outbound, context.signal))
    const { response, format: common } = await this.#start(context, body, request, getStorage(context, body))
    const format = { ...common, request: body, createdAt: Math.floor(Date.now() / 1000) }
    return respond(
      response,
      (message) => formatResponse(message, format),
      (events) => streamResponse(events, format),
    )
  }

  async #start(
    { change, signal }: CallContext,
    { model, stream }: { model: string; stream?: boolean | null },
    { instructions, messages, options }: ParsedRequest,
    storage: CompletionStorage | undefined,
  ) {
    const { directory, completions } = this.#dependencies
    const { kind, id } = await directory.find(change.caller, model)
    if (kind === 'embedding_model') throw createValidationError('model', `${model} only embeds texts`, 'Use an agent or a chat model.')
    const input = { target: { kind, id }, instructions, messages, options, stream: stream === true, storage }
    const { messageId, conversationId, response } = await completions.start(change, input, signal)
    const listsSources = options.sampling?.responseFormat === undefined
    const format: ReplyFormat = { messageId, model, conversationId, clientTools: options.tools ?? [], listsSources }
    return { response, format }
  }
}

/** Unlike chat completions, responses continue with the stored messages. */
function getStorage({ conversationId: header }: CallContext, body: ResponseCreate): CompletionStorage | undefined {
  const { store, conversation, previous_response_id } = body
  if (conversation != null && previous_response_id != null)
    throw createValidationError('conversation', 'must not be set together with previous_response_id')
  const conversationId = (typeof conversation === 'string' ? conversation : conversation?.id) ?? header
  const isContinued = conversationId !== undefined || previous_response_id != null
  if (store === false && isContinued) throw createValidationError('store', 'must not be false if a conversation is continued')
  if (!store && !isContinued) return undefined
  const previousMessageId = previous_response_id == null ? undefined : replacePrefix(previous_response_id, 'msg_')
  return { conversationId, previousMessageId, readsHistory: true }
}

/** Formats the reply, or its events. */
function respond<T>(
  response: { wait(): Promise<Message | AsyncIterable<StreamEvent>> },
  format: (message: Message) => T,
  stream: (events: AsyncIterable<StreamEvent>) => AsyncIterable<StreamEvent>,
): Formatted<T> {
  return new DeferredResponse(async () => {
    const reply = await response.wait()
    return Symbol.asyncIterator in reply ? stream(reply) : format(reply)
  })
}
