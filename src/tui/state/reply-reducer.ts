/** State of one reply, and how events of the stream change it. */
import type { ReplyEvent, ReplyEvents } from '../../contract/reply-events.ts'
import type { Citation, Message } from '../../contract/schemas/messages.ts'
import type { Usage } from '../../contract/schemas/usage.ts'
import { omitUndefined } from '../../omit-undefined.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: Record<string, unknown>
  /** asking: waiting for a confirmation. */
  readonly state: 'running' | 'asking' | 'done' | 'failed' | 'refused'
  readonly since: number
  readonly result?: unknown
  readonly error?: string
  readonly latencyMs?: number
  readonly passages?: number
  /** Id of the tool, known while the call waits for a confirmation. */
  readonly toolId?: string
  /** Why it asks, while it waits for a confirmation. */
  readonly reason?: string
  /** Request that an API tool would send, while it waits for a confirmation. */
  readonly request?: { readonly method: string; readonly url: string }
}

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'tool'; readonly tool: ToolCall }

export interface ReplyState {
  readonly kind: 'reply'
  /** Undefined until the first event. */
  readonly id: string | undefined
  /** Id of the message that it answers. A later reply to it replaces this one. */
  readonly question?: string
  /** Text, reasoning and tool calls in the order of arrival. */
  readonly parts: readonly Part[]
  readonly citations: readonly Citation[]
  readonly status: 'writing' | 'done' | 'aborted' | 'interrupted' | 'failed'
  /** Includes the usage of the replies that it replaced. */
  readonly usage?: Usage
  readonly contextTokens?: number
  readonly cost?: number | null
  /** Number of earlier messages that the model read as a summary. */
  readonly summarizedMessages?: number
  readonly finishReason?: string
  readonly error?: string
  readonly hint?: string
  /** Events up to this one are ignored when they are sent again. */
  readonly lastEventId?: string
}

/** Start time of tool calls in stored messages. */
const UNKNOWN_START = 0

export const NEW_REPLY: ReplyState = { kind: 'reply', id: undefined, parts: [], citations: [], status: 'writing' }

/** After a reconnect, events may be sent again; their ids increase. */
export function isKnownEvent({ lastEventId }: ReplyState, { id }: ReplyEvent): boolean {
  if (id === undefined || lastEventId === undefined) return false
  const [current, last] = [Number(id), Number(lastEventId)]
  return Number.isNaN(current) || Number.isNaN(last) ? id === lastEventId : current <= last
}

export function applyEvent(reply: ReplyState, event: ReplyEvent, now: number): ReplyState {
  switch (event.event) {
    case 'message_delta':
      return appendText(reply, 'text', event.data.text)
    case 'reasoning_delta':
      return appendText(reply, 'reasoning', event.data.text)
    case 'retrieval':
      return mergeCitations(reply, event.data.citations)
    case 'tool_call':
      return updateToolCall(reply, event.data.id, (tool) => ({ ...tool, ...pickCallFields(event.data) }), now)
    case 'confirmation_required':
      return updateToolCall(
        reply,
        event.data.id,
        (tool) => ({
          ...tool,
          ...pickCallFields(event.data),
          ...pickRequest(event.data),
          state: tool.state === 'running' ? 'asking' : tool.state,
        }),
        now,
      )
    case 'tool_result':
      return mergeCitations(
        updateToolCall(reply, event.data.id, (tool) => applyResult(tool, event.data), now),
        event.data.citations ?? [],
      )
    default:
      return reply // sent only by newer services
  }
}

function appendText(reply: ReplyState, kind: 'text' | 'reasoning', text: unknown): ReplyState {
  if (typeof text !== 'string' || text === '') return reply
  const last = reply.parts.at(-1)
  if (last?.kind === kind) return { ...reply, parts: [...reply.parts.slice(0, -1), { kind, text: last.text + text }] }
  return { ...reply, parts: [...reply.parts, { kind, text }] }
}

/** Changes a tool call. With a time, creates it if it is unknown, because its result may arrive first. */
export function updateToolCall(reply: ReplyState, id: string, change: (tool: ToolCall) => ToolCall, now?: number): ReplyState {
  const index = reply.parts.findIndex((part) => part.kind === 'tool' && part.tool.id === id)
  const part = reply.parts[index]
  if (part?.kind === 'tool') return { ...reply, parts: reply.parts.with(index, { kind: 'tool', tool: change(part.tool) }) }
  if (now === undefined) return reply
  return {
    ...reply,
    parts: [...reply.parts, { kind: 'tool', tool: change({ id, name: '', arguments: {}, state: 'running', since: now }) }],
  }
}

const pickCallFields = ({ name, arguments: args }: ReplyEvents['tool_call']) => ({ name, arguments: args ?? {} })

const pickRequest = ({ tool_id: toolId, method, url, reason }: ReplyEvents['confirmation_required']) =>
  omitUndefined({ toolId, reason, request: method === undefined || url === undefined ? undefined : { method, url } })

function applyResult(tool: ToolCall, data: Omit<ReplyEvents['tool_result'], 'id'>): ToolCall {
  const { name, arguments: changed, result, error, latency_ms: latencyMs, confirmation, citations } = data
  const state = confirmation === 'refused' ? 'refused' : error === undefined ? 'done' : 'failed'
  return {
    ...tool,
    name: name || tool.name,
    arguments: changed ?? tool.arguments,
    state,
    ...omitUndefined({ result, error, latencyMs, passages: citations?.length }),
  }
}

function mergeCitations(reply: ReplyState, more: readonly Citation[]): ReplyState {
  if (!Array.isArray(more) || more.length === 0) return reply
  const byIndex = new Map(reply.citations.map((citation) => [citation.index, citation]))
  for (const citation of more) byIndex.set(citation.index, citation)
  return { ...reply, citations: [...byIndex.values()].sort((a, b) => a.index - b.index) }
}

/** Applies the stored message, which contains everything that was missed. */
export function applyMessage(reply: ReplyState, message: Message): ReplyState {
  let next: ReplyState = { ...reply, ...pickReplyFields(message) }
  if (message.reasoning && !next.parts.some(({ kind }) => kind === 'reasoning'))
    next = { ...next, parts: [{ kind: 'reasoning', text: message.reasoning }, ...next.parts] }
  for (const call of message.tool_calls ?? [])
    next = updateToolCall(next, call.id, (tool) => applyResult({ ...tool, ...pickCallFields(call) }, call), UNKNOWN_START)
  const text = getText(next)
  if (text === message.content) return next
  if (message.content.startsWith(text)) return appendText(next, 'text', message.content.slice(text.length))
  return { ...next, parts: [...next.parts.filter(({ kind }) => kind !== 'text'), { kind: 'text', text: message.content }] }
}

const STATUS_BY_FINISH_REASON: Record<string, ReplyState['status']> = { aborted: 'aborted', interrupted: 'interrupted', error: 'failed' }

function pickReplyFields(message: Message): Omit<ReplyState, 'parts' | 'kind'> {
  const { id, citations = [], usage, context_tokens, cost, summarized_messages, finish_reason, error } = message
  const others = { contextTokens: context_tokens, summarizedMessages: summarized_messages, finishReason: finish_reason }
  const status = STATUS_BY_FINISH_REASON[finish_reason ?? ''] ?? 'done'
  return { id, citations, status, ...omitUndefined({ usage, cost, error, ...others }) }
}

export function getText({ parts }: Pick<ReplyState, 'parts'>): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
}
