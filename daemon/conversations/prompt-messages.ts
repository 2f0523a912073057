/** Prepares the messages of a client for the agent loop: turns, the question and what follows it. */
import { createValidationError } from '../../src/contract/errors.ts'
import type { ChatImage, ChatMessage } from '../models/chat-model.ts'
import { removeCitationMarkers } from './reply/citations.ts'
import type { StoredMessage } from './store.ts'

export interface SplitMessages {
  /** Earlier turns, oldest first. */
  history: ChatMessage[][]
  question: string
  images: readonly ChatImage[]
  /** Messages after the question: calls of the client's tools and their results. */
  continuation: ChatMessage[]
}

/** Splits messages at the last one of the user. Earlier replies lose their citation numbers: their passages are not part of the request. */
export function splitMessages(messages: readonly ChatMessage[], hasPassages: boolean): SplitMessages {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const last = messages[at]
  if (last?.role !== 'user') throw createValidationError('messages', 'must contain a message of the user')
  const history: ChatMessage[][] = []
  for (const message of messages.slice(0, at)) {
    if (message.role === 'user' || history.length === 0) history.push([])
    history.at(-1)?.push(hasPassages && message.role === 'assistant' ? removeMarkers(message) : message)
  }
  return { history, question: last.content, images: last.images ?? [], continuation: messages.slice(at + 1) }
}

const removeMarkers = <M extends ChatMessage>(message: M): M => ({ ...message, content: removeCitationMarkers(message.content) })

/** Adds the names of the called tools to their results, which clients identify by the call only. */
export function nameToolResults(messages: readonly ChatMessage[]): ChatMessage[] {
  const names = new Map<string, string>()
  return messages.map((message) => {
    if (message.role === 'assistant') for (const { id, name } of message.toolCalls ?? []) names.set(id, name)
    if (message.role !== 'tool') return message
    const name = names.get(message.callId)
    if (name === undefined) throw createValidationError('messages', `no tool call before this result has the id "${message.callId}"`)
    return { ...message, name }
  })
}

/** Adds the results of a client's tools to the stored reply that called them. */
export function addToolResults(
  reply: StoredMessage | undefined,
  messages: readonly ChatMessage[],
): { completed: StoredMessage | undefined; others: readonly ChatMessage[] } {
  const pending = new Set(
    reply?.finish_reason === 'tool_calls' ? reply.tool_calls?.filter((call) => isPending(call)).map(({ id }) => id) : [],
  )
  const results = new Map(messages.flatMap((message) => (message.role === 'tool' ? [[message.callId, message.content] as const] : [])))
  if (!reply || ![...results.keys()].some((id) => pending.has(id))) return { completed: undefined, others: messages }
  const tool_calls = reply.tool_calls?.map((call) =>
    pending.has(call.id) && results.has(call.id) ? { ...call, result: results.get(call.id) } : call,
  )
  return {
    completed: { ...reply, ...(tool_calls ? { tool_calls } : {}) },
    others: messages.filter((message) => message.role !== 'tool' || !pending.has(message.callId)),
  }
}

const isPending = ({ result, error }: { result?: unknown; error?: string }): boolean => result === undefined && error === undefined
