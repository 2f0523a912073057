/** The interface of chat models, and its requests and responses. Recordings store requests and parts unchanged. */

import { CadreError } from '../../src/contract/errors.ts'
import type { Confidence } from '../../src/contract/schemas/confidence.ts'
import { IMAGES_UNREADABLE } from '../../src/contract/schemas/images.ts'
import type { PassageDescription } from '../../src/contract/schemas/passages.ts'
import type { DocumentCount, Neighbours } from '../core/tool.ts'
import type { Compute } from '../tables/computation.ts'
import type { Priority } from '../workers/worker-protocol.ts'

export interface ToolCall {
  id: string
  name: string
  arguments: Record<string, unknown>
  /** Opaque data of the provider, to be sent back with this call. */
  seal?: Readonly<Record<string, unknown>>
}

/** An image of a message. */
export interface ChatImage {
  /** The media type, such as image/png. */
  type: string
  /** The bytes, in base64. */
  data: string
}

export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string; images?: readonly ChatImage[] }
  | { role: 'assistant'; content: string; toolCalls?: readonly ToolCall[] }
  | { role: 'tool'; callId: string; name: string; content: string; failed: boolean }

export interface ToolDefinition {
  name: string
  description: string
  /** JSON Schema of the arguments, of type object. */
  parameters: Record<string, unknown>
}

/** `required`: the model must call a tool; a name: it must call that tool. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

/** JSON of any shape, or JSON that matches a schema. */
export interface ResponseFormat {
  name?: string | undefined
  description?: string | undefined
  schema?: Record<string, unknown> | undefined
  strict?: boolean | undefined
}

/** Settings that are passed to the provider as they are. Providers ignore those that they do not have. */
export interface SamplingSettings {
  topP?: number | undefined
  stop?: readonly string[] | undefined
  seed?: number | undefined
  frequencyPenalty?: number | undefined
  presencePenalty?: number | undefined
  /** The reply must be JSON. */
  responseFormat?: ResponseFormat | undefined
}

export interface ContextPassage {
  content: string
  source: string
  page: number
  /** Where the passage is if its document has no pages: `slide 3`. */
  place?: string
  /** Headings above the passage, outermost first, if known. */
  headings?: readonly string[]
  /** Descriptions of the knowledge source and the folders that contain the document. */
  descriptions?: readonly PassageDescription[]
}

export interface ChatInput extends SamplingSettings {
  /** System messages are joined and sent first, because not every model accepts them elsewhere. */
  messages: readonly ChatMessage[]
  /** Only for models that can call tools. */
  tools?: readonly ToolDefinition[]
  /** Whether the model may call tools now. Some providers reject messages with tool calls if the tools are missing. */
  toolChoice?: ToolChoice
  /** For models that cannot call tools. Replies cite them as [1], [2] and so on. */
  passages?: readonly ContextPassage[]
  /** Counts the documents that were searched for the passages, and the skipped files of their sources. */
  countDocuments?: (() => Promise<DocumentCount>) | undefined
  /** Computes the answer from the tables of the documents, for models that cannot call tools. */
  compute?: Compute | undefined
  /** Lists the neighbours of the passage with this index. */
  listNeighbours?: ((index: number) => Promise<Neighbours | undefined>) | undefined
  temperature?: number | null
  maxTokens?: number | null
  /** Whose turn the embedded model takes. Default: each call takes a turn of its own. */
  owner?: string | undefined
  /** Of the work of the embedded model. Default: high. */
  priority?: Priority | undefined
  /** Aborts the call; the iterator then throws the signal's reason. */
  signal?: AbortSignal
}

export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  /** Part of the input tokens that the provider read from its cache. */
  cachedTokens: number
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other'

export type ChatPart =
  | { type: 'text'; text: string }
  /** What the model writes before its answer; not part of the reply. */
  | { type: 'reasoning'; text: string }
  /** `problem` says why the arguments are not a JSON object; they are empty then. */
  | { type: 'tool_call'; call: ToolCall; problem?: string }
  /** The last part. Without usage the provider did not report it. Only the embedded model has a confidence. */
  | { type: 'end'; finishReason: FinishReason; usage: TokenUsage | undefined; confidence?: Confidence | undefined }

/** Price of 1,000 model tokens. */
export interface Price {
  input: number
  output: number
}

export interface ContextWindow {
  /** Maximum number of tokens of messages, tools and reply together. */
  contextTokens: number
  /** False if the limit is a default; longer requests may fit then. */
  isContextKnown: boolean
}

export interface ChatModel extends Readonly<ContextWindow> {
  /** The id of the model's record. */
  readonly id: string
  readonly name: string
  /** Becomes false when the server reports that the model does not support tools. */
  readonly canCallTools: boolean
  /** Null if unknown. Becomes false when the server reports that the model does not read images. */
  readonly canReadImages: boolean | null
  /** Null if unknown. */
  readonly price: Price | null
  /**
   * Throws PROVIDER_ERROR or PROVIDER_TIMEOUT with the provider's message and without its API key. Throws
   * ToolsUnsupportedError before the first part if tools were sent to a model without tool support.
   */
  stream(request: ChatInput): AsyncIterable<ChatPart>
}

export const hasImages = ({ messages }: Pick<ChatInput, 'messages'>): boolean =>
  messages.some((message) => message.role === 'user' && (message.images?.length ?? 0) > 0)

/** Throws if the model is known not to read images. Others may still reject them. */
export function requireReadsImages({ name, canReadImages }: Pick<ChatModel, 'name' | 'canReadImages'>, field: string): void {
  if (canReadImages !== false) return
  throw new CadreError('VALIDATION_ERROR', `The model "${name}" ${IMAGES_UNREADABLE}.`, {
    hint: 'Use another model. If it can, set its supports_images to true.',
    details: [{ field, problem: 'contain an image' }],
  })
}

/** The model does not support tools. Callers retry with passages instead. */
export class ToolsUnsupportedError extends CadreError {}
