/** What every model can do, whoever runs it: take messages and tools, and give text, tool calls and a count of tokens as they come. */
import { CadreError } from '../../src/contract/errors.ts'

export interface ToolCall {
  id: string
  name: string
  arguments: Record<string, unknown>
  /** What the provider wants to see again with this call: to be handed back unread, as long as the reply lasts. */
  seal?: Readonly<Record<string, unknown>>
}

export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls?: readonly ToolCall[] }
  | { role: 'tool'; callId: string; name: string; content: string; failed: boolean }

export interface ToolDefinition {
  name: string
  description: string
  /** JSON Schema of the arguments, of type object. */
  parameters: Record<string, unknown>
}

export interface ContextPassage {
  content: string
  source: string
  page: number
  /** Those it stands under, outermost first, where they are known. */
  headings?: readonly string[]
}

export interface ChatRequest {
  /** Messages of the system are put together and come first, wherever they stand: not every model takes them elsewhere. */
  messages: readonly ChatMessage[]
  /** Offered only to models that call tools. */
  tools?: readonly ToolDefinition[]
  /** Whether they may be called now. What was called before stays readable either way, which some providers refuse without the tools. */
  toolChoice?: 'auto' | 'none'
  /** Given instead of tools to models that do not call them; the answer cites them as [1], [2] and so on. */
  passages?: readonly ContextPassage[]
  temperature?: number | null
  maxTokens?: number | null
  /** Ends the call at any moment; the iterator then throws the signal's reason. */
  signal?: AbortSignal
}

export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  /** Of the input, what the provider had read before. */
  cachedTokens: number
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other'

export type ChatPart =
  | { type: 'text'; text: string }
  /** `problem` says why arguments that are no JSON object could not be read; they are empty then. */
  | { type: 'tool_call'; call: ToolCall; problem?: string }
  /** Always last, unless the call throws. Without usage the provider did not count. */
  | { type: 'end'; finishReason: FinishReason; usage: TokenUsage | undefined }

/** Price of 1,000 tokens. */
export interface Price {
  input: number
  output: number
}

export interface ContextWindow {
  /** Most tokens of messages, tools and reply together. */
  contextTokens: number
  /** False where that is a guess: what is longer may fit all the same. */
  isContextKnown: boolean
}

export interface ChatModel extends Readonly<ContextWindow> {
  /** Of the model's record. */
  readonly id: string
  readonly name: string
  /** False from the moment its server said that it takes none. */
  readonly canCallTools: boolean
  /** Null where it is not known. */
  readonly price: Price | null
  /**
   * Throws PROVIDER_ERROR or PROVIDER_TIMEOUT with the provider's own words and never its key; ToolsUnsupported, before
   * any part, where tools were offered to a model that takes none.
   */
  stream(request: ChatRequest): AsyncIterable<ChatPart>
}

/** The model takes no tools: ask it again without them, with passages instead. */
export class ToolsUnsupportedError extends CadreError {}
