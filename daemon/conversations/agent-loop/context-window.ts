/** Fits a conversation into the context window: always the instructions and the last question, then as much history as fits, newest first. */
import { createValidationError } from '../../../src/contract/errors.ts'
import type { ChatMessage, ChatModel, ChatRequest, ContextPassage, ToolDefinition } from '../../models/chat-model.ts'
import { estimateRequest, estimateTokens } from '../../models/token-estimate.ts'
import { removeCitationMarkers } from '../reply/citations.ts'
import type { StoredMessage } from '../store.ts'

/** Tokens reserved for the reply if the agent sets no limit, and the largest share of the context window that is reserved. */
const DEFAULT_REPLY_TOKENS = 2_048
const MAX_REPLY_SHARE = 0.5
/** Characters that are left of a tool result at least. */
const MIN_RESULT_LENGTH = 400

export interface PromptInput {
  system: string
  /** Earlier turns, oldest first. */
  history: readonly (readonly ChatMessage[])[]
  question: string
  contextTokens: number
  maxTokens: number | null
}

export interface StepInput {
  /** Model messages and tool results of this reply so far. */
  steps: readonly ChatMessage[]
  tools: readonly ToolDefinition[]
  passages: readonly ContextPassage[] | undefined
}

export type ComposedRequest = Pick<ChatRequest, 'messages'> & { tools?: readonly ToolDefinition[]; passages?: readonly ContextPassage[] }

/** Throws if the question does not fit into a known context window: a question is never truncated. */
export function requireFitsContext(
  { name, contextTokens, isContextKnown: contextKnown }: ChatModel,
  system: string,
  question: string,
): void {
  const [instructions, asked] = [estimateTokens(system), estimateTokens(question)]
  if (!contextKnown || instructions + asked <= contextTokens) return
  const count = (tokens: number) => tokens.toLocaleString('en')
  const beside = instructions > 0 ? `, of which the agent's instructions take ${count(instructions)}` : ''
  throw createValidationError(
    'message',
    `has about ${count(asked)} tokens, and the model "${name}" reads ${count(contextTokens)}${beside}`,
    'Send less of it, add it as a document and ask about it (cadre knowledge add), or ask a model that reads more. If this one does, say so in its context_window.',
  )
}

export function composeRequest(
  { system, history: past, question, contextTokens, maxTokens }: PromptInput,
  { steps: done, tools, passages }: StepInput,
): ComposedRequest {
  const first: ChatMessage[] = system === '' ? [] : [{ role: 'system', content: system }]
  const asked: ChatMessage = { role: 'user', content: question }
  const reply = Math.min(maxTokens ?? DEFAULT_REPLY_TOKENS, contextTokens * MAX_REPLY_SHARE)
  let left = contextTokens - reply - estimateRequest({ messages: [...first, asked], tools })
  const given = passages && selectPassages(passages, left)
  left -= estimateRequest({ messages: [], passages: given })
  const steps = shortenToolResults(done, left)
  left -= estimateRequest({ messages: steps })
  return {
    messages: [...first, ...selectTurns(past, left), asked, ...steps],
    ...(tools.length > 0 ? { tools } : {}),
    ...(given ? { passages: given } : {}),
  }
}

/** Selects complete turns, newest first, until one does not fit. */
function selectTurns(past: readonly (readonly ChatMessage[])[], room: number): ChatMessage[] {
  let left = room
  let first = past.length
  while (first > 0) {
    left -= estimateRequest({ messages: past[first - 1] as readonly ChatMessage[] })
    if (left < 0) break
    first--
  }
  return past.slice(first).flat()
}

/** Passages are sorted by score; the first is always included, truncated if necessary. */
function selectPassages(passages: readonly ContextPassage[], room: number): ContextPassage[] {
  let left = room
  const kept: ContextPassage[] = []
  for (const passage of passages) {
    left -= estimateRequest({ messages: [], passages: [passage] })
    if (left < 0 && kept.length > 0) break
    kept.push(left < 0 ? { ...passage, content: truncateToShare(passage.content, left / estimateTokens(passage.content) + 1) } : passage)
  }
  return kept
}

/** Truncates the longest tool results until all of them fit. */
function shortenToolResults(done: readonly ChatMessage[], room: number): ChatMessage[] {
  const size = estimateRequest({ messages: done })
  if (size <= room) return [...done]
  const results = done.flatMap((message) => (message.role === 'tool' ? [estimateTokens(message.content)] : [])).sort((a, b) => a - b)
  const all = results.reduce((sum, tokens) => sum + tokens, 0)
  const share = computeEvenShare(results, Math.max(0, room - (size - all)))
  return done.map((message) => {
    if (message.role !== 'tool') return message
    const tokens = estimateTokens(message.content)
    return tokens <= share ? message : { ...message, content: truncateToShare(message.content, share / tokens) }
  })
}

/** The limit per result so that all fit together: room that short results leave is given to long ones. */
function computeEvenShare(ascending: readonly number[], room: number): number {
  let left = room
  for (const [at, tokens] of ascending.entries()) {
    const share = left / (ascending.length - at)
    if (tokens > share) return share
    left -= tokens
  }
  return Number.POSITIVE_INFINITY
}

function truncateToShare(text: string, part: number): string {
  const length = Math.max(MIN_RESULT_LENGTH, Math.floor(text.length * part))
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}\n… (${text.length - length} more characters are left out)`
}

/**
 * Converts stored messages to turns. Empty replies are left out. Tool calls are included if the agent still has the tool
 * and it does not return passages: those had their own citation numbers and are better retrieved again.
 */
export function buildHistory(messages: readonly StoredMessage[], tools: readonly string[]): ChatMessage[][] {
  const turns: ChatMessage[][] = []
  for (const message of messages) {
    if (message.role === 'user') turns.push([{ role: 'user', content: message.content }])
    else turns.at(-1)?.push(...convertReply(message, tools))
  }
  return turns
}

function convertReply({ content, tool_calls = [], citations = [] }: StoredMessage, tools: readonly string[]): ChatMessage[] {
  const kept = tool_calls.filter(({ name, result }) => tools.includes(name) && result !== undefined)
  const text = citations.length > 0 ? removeCitationMarkers(content) : content
  return [
    ...(kept.length > 0
      ? [
          {
            role: 'assistant' as const,
            content: '',
            toolCalls: kept.map(({ id, name, arguments: given }) => ({ id, name, arguments: given })),
          },
        ]
      : []),
    ...kept.map(({ id, name, result }) => ({ role: 'tool' as const, callId: id, name, content: formatValue(result), failed: false })),
    ...(text.trim() === '' ? [] : [{ role: 'assistant' as const, content: text }]),
  ]
}

export const formatValue = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'))
