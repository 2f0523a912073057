/** What of a conversation goes to the model: always the instructions and the last question, and of the rest as much as fits, newest first. */
import { createValidationError } from '../../../src/contract/errors.ts'
import type { ChatMessage, ChatModel, ChatRequest, GivenPassage, OfferedTool } from '../../models/chat-model.ts'
import { estimateRequest, estimateTokens } from '../../models/token-estimate.ts'
import { removeCitationMarkers } from '../reply/citations.ts'
import type { StoredMessage } from '../store.ts'

/** What is left for the reply when the agent says nothing about its length, and the most that is. */
const DEFAULT_REPLY_TOKENS = 2_048
const MAX_REPLY_SHARE = 0.5
/** A tool result is never cut shorter than this many characters. */
const MIN_RESULT_LENGTH = 400

export interface PromptInput {
  system: string
  /** Earlier turns, oldest first: a question and what was answered. */
  history: readonly (readonly ChatMessage[])[]
  question: string
  contextTokens: number
  maxTokens: number | null
}

export interface StepInput {
  /** What was said and done in this reply so far. */
  steps: readonly ChatMessage[]
  tools: readonly OfferedTool[]
  passages: readonly GivenPassage[] | undefined
}

export type ComposedRequest = Pick<ChatRequest, 'messages'> & { tools?: readonly OfferedTool[]; passages?: readonly GivenPassage[] }

/** A question is never cut: one that the model is known not to read whole is refused before anything is called, or stored. */
export function requireFitsContext({ name, contextTokens, contextKnown }: ChatModel, system: string, question: string): void {
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

/** Whole turns, the newest first, until one does not fit. */
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

/** The best passages come first; the first one is always given, cut if it must be. */
function selectPassages(passages: readonly GivenPassage[], room: number): GivenPassage[] {
  let left = room
  const kept: GivenPassage[] = []
  for (const passage of passages) {
    left -= estimateRequest({ messages: [], passages: [passage] })
    if (left < 0 && kept.length > 0) break
    kept.push(left < 0 ? { ...passage, content: truncateToShare(passage.content, left / estimateTokens(passage.content) + 1) } : passage)
  }
  return kept
}

/** What tools answered in this reply, the longest of it cut until all of it fits. */
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

/** The most that each may keep so that together they fit; what the short ones leave goes to the long ones. */
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
 * Stored messages as turns. Replies that failed before their first word say nothing. Of tools, those are shown again
 * that the agent still has and that do not find passages: those had numbers of their own, and are better looked up again.
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
