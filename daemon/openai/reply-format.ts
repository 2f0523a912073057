/** What both formats of replies need to know about a request. */
import { CadreError } from '../../src/contract/errors.ts'
import { createOpenaiError } from '../../src/contract/openai/errors.ts'
import type { ReplyEvents } from '../../src/contract/reply-events.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import type { Message, ToolCall } from '../../src/contract/schemas/messages.ts'
import type { ToolDefinition } from '../models/chat-model.ts'
import { formatSources } from './sources.ts'

export interface ReplyFormat {
  messageId: string
  /** The model as the client named it. */
  model: string
  conversationId: string | null
  clientTools: readonly ToolDefinition[]
  /** Whether cited documents are listed below the text: not below JSON. */
  listsSources: boolean
}

/** The calls that the client executes. */
export const listClientCalls = ({ tool_calls = [] }: Message, { clientTools }: ReplyFormat): ToolCall[] =>
  tool_calls.filter(
    ({ name, result, error }) => result === undefined && error === undefined && clientTools.some((tool) => tool.name === name),
  )

export const getSources = ({ citations = [] }: Message, { listsSources }: ReplyFormat): string =>
  listsSources ? formatSources(citations) : ''

/** The last event of a reply that failed after its first text. */
export const createErrorEvent = (data: ReplyEvents['error']): StreamEvent => ({
  event: 'error',
  data: createOpenaiError(new CadreError(data.code, data.error, { hint: data.hint })),
})

/** Identifiers of messages with the prefixes of OpenAI. */
export const replacePrefix = (id: string, prefix: string): string => id.replace(/^[a-z]+[_-]/, prefix)

export const getSeconds = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1000)
