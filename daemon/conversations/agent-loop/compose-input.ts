/**
 * Composes requests that fit the context window: instructions and question always, then as much history as fits, newest first.
 * Long texts are shortened before turns are left out.
 */
import { createValidationError } from '../../../src/contract/errors.ts'
import { isComplete } from '../../../src/contract/schemas/messages.ts'
import type { ChatImage, ChatInput, ChatMessage, ChatModel, ContextPassage, ToolDefinition } from '../../models/chat-model.ts'
import { estimateInput, estimateTokens } from '../../models/token-estimate.ts'
import { removeCitationMarkers } from '../reply/citations.ts'
import type { StoredMessage } from '../store.ts'

/** Tokens reserved for the reply if the agent sets no limit, and the largest share of the context window that is reserved. */
const DEFAULT_REPLY_TOKENS = 2_048
const MAX_REPLY_SHARE = 0.5
/** Minimum length of a truncated tool result or message, in characters. */
const MIN_RESULT_LENGTH = 400
/** Length of the note at the end of a truncated text. */
const NOTE_LENGTH = 100
/** The share of the free tokens that results of this reply may use although earlier turns are then left out. */
const MIN_STEPS_SHARE = 0.4
/** The largest share for passages if there are earlier turns. */
const MAX_PASSAGES_SHARE = 2 / 3
/** The largest share of a tool result, or a message with attached files, in turns that do not fit otherwise. */
const MAX_TEXT_SHARE = 0.1
const MAX_LAST_TEXT_SHARE = 0.25

export interface PromptInput {
  system: string
  /** A summary of the messages before the history, as instructions. */
  summary?: string | undefined
  /** Earlier turns, oldest first. */
  history: readonly (readonly ChatMessage[])[]
  question: string
  images?: readonly ChatImage[] | undefined
  /** Messages after the question, if a client continues a reply with the results of its tools. */
  continuation?: readonly ChatMessage[] | undefined
  contextTokens: number
  maxTokens: number | null
}

interface StepInput {
  /** Model messages and tool results of this reply so far. */
  steps: readonly ChatMessage[]
  tools: readonly ToolDefinition[]
  passages: readonly ContextPassage[] | undefined
}

export type ComposedInput = Pick<ChatInput, 'messages'> & { tools?: readonly ToolDefinition[]; passages?: readonly ContextPassage[] }

/** Throws if the question does not fit into a known context window: a question is never truncated. */
export function requireFitsContext({ name, contextTokens, isContextKnown }: ChatModel, system: string, question: string): void {
  const [instructionTokens, questionTokens] = [estimateTokens(system), estimateTokens(question)]
  if (!isContextKnown || instructionTokens + questionTokens <= contextTokens) return
  const formatCount = (tokens: number) => tokens.toLocaleString('en')
  const share = instructionTokens > 0 ? `, of which the agent's instructions take ${formatCount(instructionTokens)}` : ''
  throw createValidationError(
    'message',
    `has about ${formatCount(questionTokens)} tokens, and the model "${name}" reads ${formatCount(contextTokens)}${share}`,
    'Shorten the message, add it as a document (cadre knowledge add) or use a model with a larger context window. ' +
      'If the limit is wrong, set context_window of the model.',
  )
}

export function composeInput(prompt: PromptInput, { steps, tools, passages }: StepInput): ComposedInput {
  const { history, continuation = [] } = prompt
  const { instructions, userMessage, room } = composeFrame(prompt, tools)
  const selectedPassages = passages && selectPassages(passages, history.length > 0 ? room * MAX_PASSAGES_SHARE : room)
  const stepsRoom = room - estimateInput({ messages: [], passages: selectedPassages })
  const historyTokens = estimateInput({ messages: shortenHistory(history, stepsRoom).flat() })
  const shortenedSteps = shortenToolResults([...continuation, ...steps], Math.max(stepsRoom - historyTokens, stepsRoom * MIN_STEPS_SHARE))
  const historyRoom = stepsRoom - estimateInput({ messages: shortenedSteps })
  return {
    messages: [...instructions, ...selectTurns(shortenHistory(history, historyRoom), historyRoom), userMessage, ...shortenedSteps],
    ...(tools.length > 0 ? { tools } : {}),
    ...(selectedPassages ? { passages: selectedPassages } : {}),
  }
}

/** Returns what every request contains, and the number of tokens that are left for everything else. */
function composeFrame(
  { system, summary = '', question, images = [], contextTokens, maxTokens }: PromptInput,
  tools: readonly ToolDefinition[],
) {
  const content = [system, summary].filter((part) => part !== '').join('\n\n')
  const instructions: ChatMessage[] = content === '' ? [] : [{ role: 'system', content }]
  const userMessage: ChatMessage = { role: 'user', content: question, ...(images.length > 0 ? { images } : {}) }
  const replyTokens = Math.min(maxTokens ?? DEFAULT_REPLY_TOKENS, contextTokens * MAX_REPLY_SHARE)
  const room = contextTokens - replyTokens - estimateInput({ messages: [...instructions, userMessage], tools })
  return { instructions, userMessage, room }
}

/** Returns the number of tokens that are left for history, passages and results of tools. */
export const computeRoom = (prompt: PromptInput, tools: readonly ToolDefinition[]): number => composeFrame(prompt, tools).room

/** Truncates long tool results and messages if the turns do not fit: those of the last turn only if it does not fit alone. */
export function shortenHistory(history: readonly (readonly ChatMessage[])[], room: number): readonly (readonly ChatMessage[])[] {
  if (estimateInput({ messages: history.flat() }) <= room) return history
  const last = history.at(-1) ?? []
  const keepsLast = estimateInput({ messages: last }) <= room / 2
  const shortened = history.slice(0, -1).map((turn) => shortenTurn(turn, room * MAX_TEXT_SHARE))
  return [...shortened, keepsLast ? last : shortenTurn(last, room * MAX_LAST_TEXT_SHARE)]
}

const shortenTurn = (turn: readonly ChatMessage[], maxTokens: number): ChatMessage[] =>
  turn.map((message) => {
    if (message.role !== 'tool' && message.role !== 'user') return message
    const share = maxTokens / estimateTokens(message.content)
    return share >= 1 ? message : { ...message, content: truncateToShare(message.content, Math.max(0, share), REST_HINTS[message.role]) }
  })

/** Tell the model how to read the rest. */
const REST_HINTS = { tool: 'call the tool again for the rest', user: 'search the conversation or ask the user for the rest' }

/** Selects complete turns, newest first, until one does not fit. */
function selectTurns(history: readonly (readonly ChatMessage[])[], room: number): ChatMessage[] {
  let left = room
  let first = history.length
  while (first > 0) {
    left -= estimateInput({ messages: history[first - 1] as readonly ChatMessage[] })
    if (left < 0) break
    first--
  }
  return history.slice(first).flat()
}

/** Passages are sorted by score; the first is always included, truncated if necessary. */
function selectPassages(passages: readonly ContextPassage[], room: number): ContextPassage[] {
  let left = room
  const kept: ContextPassage[] = []
  for (const passage of passages) {
    left -= estimateInput({ messages: [], passages: [passage] })
    if (left < 0 && kept.length > 0) break
    kept.push(left < 0 ? { ...passage, content: truncateToShare(passage.content, left / estimateTokens(passage.content) + 1) } : passage)
  }
  return kept
}

/** Truncates the longest tool results until all of them fit. */
function shortenToolResults(steps: readonly ChatMessage[], room: number): ChatMessage[] {
  const size = estimateInput({ messages: steps })
  if (size <= room) return [...steps]
  const results = steps.flatMap((message) => (message.role === 'tool' ? [estimateTokens(message.content)] : [])).sort((a, b) => a - b)
  const resultTokens = results.reduce((sum, tokens) => sum + tokens, 0)
  const share = computeEvenShare(results, Math.max(0, room - (size - resultTokens)))
  return steps.map((message) => {
    if (message.role !== 'tool') return message
    const tokens = estimateTokens(message.content)
    return tokens <= share ? message : { ...message, content: truncateToShare(message.content, share / tokens, REST_HINTS.tool) }
  })
}

/** Returns the limit per result at which all fit: long results use the space that short ones leave free. */
function computeEvenShare(ascending: readonly number[], room: number): number {
  let left = room
  for (const [index, tokens] of ascending.entries()) {
    const share = left / (ascending.length - index)
    if (tokens > share) return share
    left -= tokens
  }
  return Number.POSITIVE_INFINITY
}

function truncateToShare(text: string, share: number, hint?: string): string {
  return truncate(text, Math.max(MIN_RESULT_LENGTH, Math.floor(text.length * share) - NOTE_LENGTH), hint)
}

export function truncate(text: string, maxLength: number, hint?: string): string {
  if (text.length <= maxLength) return text
  const note = `${text.length - maxLength} more characters are left out${hint === undefined ? '' : `; ${hint}`}`
  return `${text.slice(0, maxLength).toWellFormed()}\n… (${note})`
}

/** Omits failed messages that were sent again with the same text, so that the model reads them once. */
export function omitRepeatedFailures(messages: readonly StoredMessage[], question: string): StoredMessage[] {
  const turns: StoredMessage[][] = []
  for (const message of messages) {
    if (message.role === 'user' || turns.length === 0) turns.push([message])
    else turns.at(-1)?.push(message)
  }
  const isRepeated = ([first, reply]: StoredMessage[], next: string) =>
    first?.role === 'user' && first.content === next && !(reply && isComplete(reply))
  return turns.filter((turn, index) => !isRepeated(turn, turns[index + 1]?.[0]?.content ?? question)).flat()
}

/**
 * Converts stored messages to turns. Empty replies are omitted. Tool calls are included if the agent still has the tool
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

/** Calls of a client's tools are the end of a reply, so its text comes before their results. */
function convertReply({ content, tool_calls = [], citations = [], finish_reason }: StoredMessage, tools: readonly string[]): ChatMessage[] {
  const kept = tool_calls.filter(({ name, result }) => tools.includes(name) && result !== undefined)
  const text = citations.length > 0 ? removeCitationMarkers(content) : content
  const messages: ChatMessage[] = []
  const toolCalls = kept.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }))
  const endsWithCalls = finish_reason === 'tool_calls' && toolCalls.length > 0
  if (toolCalls.length > 0) messages.push({ role: 'assistant', content: endsWithCalls ? text : '', toolCalls })
  for (const { id, name, result } of kept) messages.push({ role: 'tool', callId: id, name, content: formatValue(result), failed: false })
  if (text.trim() !== '' && !endsWithCalls) messages.push({ role: 'assistant', content: text })
  return messages
}

export const formatValue = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'))
