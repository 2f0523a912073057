/** One reply as state: its text and tools in the order they came, and what each event of the stream changes of it. */
import type { Static } from 'typebox'
import type { Citation as CitationSchema, Message as MessageSchema, Usage as UsageSchema } from '../../contract/families/conversations.ts'
import type { ReplyEvent, ReplyEvents } from '../../contract/reply-events.ts'

export type Citation = Static<typeof CitationSchema>
export type Message = Static<typeof MessageSchema>
export type Usage = Static<typeof UsageSchema>

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: Record<string, unknown>
  /** asking: it waits for a yes or a no. */
  readonly state: 'running' | 'asking' | 'done' | 'failed' | 'refused'
  readonly since: number
  readonly result?: unknown
  readonly error?: string
  readonly latencyMs?: number
  readonly passages?: number
}

export type Part = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'tool'; readonly tool: ToolCall }

export interface ReplyState {
  readonly kind: 'reply'
  /** Unknown until the service names it. */
  readonly id: string | undefined
  /** Text and tools in the order they came. */
  readonly parts: readonly Part[]
  readonly citations: readonly Citation[]
  readonly status: 'writing' | 'done' | 'aborted' | 'interrupted' | 'failed'
  readonly modelId?: string | null
  readonly usage?: Usage
  readonly cost?: number | null
  readonly finishReason?: string
  readonly latencyMs?: number
  readonly error?: string
  readonly hint?: string
  /** The last event of the stream that was taken in; the ones up to it are not taken in again. */
  readonly lastEventId?: string
}

/** When a call of a stored message began matters to nobody any more. */
const UNKNOWN_START = 0

export const NEW_REPLY: ReplyState = { kind: 'reply', id: undefined, parts: [], citations: [], status: 'writing' }

/** A reply that is taken up again begins with events that were seen; their numbers grow. */
export function isKnownEvent({ lastEventId }: ReplyState, { id }: ReplyEvent): boolean {
  if (id === undefined || lastEventId === undefined) return false
  const [now, before] = [Number(id), Number(lastEventId)]
  return Number.isNaN(now) || Number.isNaN(before) ? id === lastEventId : now <= before
}

/** The reply with what the event says. */
export function applyEvent(reply: ReplyState, event: ReplyEvent, at: number): ReplyState {
  switch (event.event) {
    case 'message_delta':
      return appendText(reply, event.data.text)
    case 'retrieval':
      return mergeCitations(reply, event.data.citations)
    case 'tool_call':
      return updateToolCall(reply, event.data.id, (tool) => ({ ...tool, ...pickCallFields(event.data) }), at)
    case 'confirmation_required':
      return updateToolCall(
        reply,
        event.data.id,
        (tool) => ({ ...tool, ...pickCallFields(event.data), state: tool.state === 'running' ? 'asking' : tool.state }),
        at,
      )
    case 'tool_result':
      return mergeCitations(
        updateToolCall(reply, event.data.id, (tool) => applyResult(tool, event.data), at),
        event.data.citations ?? [],
      )
    default:
      return reply // a kind that only a newer service knows
  }
}

function appendText(reply: ReplyState, text: unknown): ReplyState {
  if (typeof text !== 'string' || text === '') return reply
  const last = reply.parts.at(-1)
  if (last?.kind === 'text') return { ...reply, parts: [...reply.parts.slice(0, -1), { kind: 'text', text: last.text + text }] }
  return { ...reply, parts: [...reply.parts, { kind: 'text', text }] }
}

/** Changes the call of that id. With a time, one that nobody announced is made first: its result came before it. */
export function updateToolCall(reply: ReplyState, id: string, change: (tool: ToolCall) => ToolCall, at?: number): ReplyState {
  const index = reply.parts.findIndex((part) => part.kind === 'tool' && part.tool.id === id)
  const known = reply.parts[index]
  if (known?.kind === 'tool') return { ...reply, parts: reply.parts.with(index, { kind: 'tool', tool: change(known.tool) }) }
  if (at === undefined) return reply
  return { ...reply, parts: [...reply.parts, { kind: 'tool', tool: change({ id, name: '', arguments: {}, state: 'running', since: at }) }] }
}

const pickCallFields = ({ name, arguments: given }: ReplyEvents['tool_call']) => ({ name, arguments: given ?? {} })

function applyResult(tool: ToolCall, data: Omit<ReplyEvents['tool_result'], 'id'>): ToolCall {
  const { name, result, error, latency_ms: latencyMs, confirmation, citations } = data
  const state = confirmation === 'refused' ? 'refused' : error === undefined ? 'done' : 'failed'
  return {
    ...tool,
    name: name || tool.name,
    state,
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
    ...(latencyMs === undefined ? {} : { latencyMs }),
    ...(citations === undefined ? {} : { passages: citations.length }),
  }
}

function mergeCitations(reply: ReplyState, more: readonly Citation[]): ReplyState {
  if (!Array.isArray(more) || more.length === 0) return reply
  const byIndex = new Map(reply.citations.map((citation) => [citation.index, citation]))
  for (const citation of more) byIndex.set(citation.index, citation)
  return { ...reply, citations: [...byIndex.values()].sort((a, b) => a.index - b.index) }
}

/** The stored message is what counts: what was missed on the way is in it. */
export function applyMessage(reply: ReplyState, message: Message): ReplyState {
  let whole: ReplyState = { ...reply, ...pickReplyFields(message) }
  for (const call of message.tool_calls ?? [])
    whole = updateToolCall(whole, call.id, (tool) => applyResult({ ...tool, ...pickCallFields(call) }, call), UNKNOWN_START)
  const said = getText(whole)
  if (said === message.content) return whole
  if (message.content.startsWith(said)) return appendText(whole, message.content.slice(said.length))
  return { ...whole, parts: [...whole.parts.filter(({ kind }) => kind === 'tool'), { kind: 'text', text: message.content }] }
}

const STATUS_BY_FINISH_REASON: Record<string, ReplyState['status']> = { aborted: 'aborted', interrupted: 'interrupted', error: 'failed' }

function pickReplyFields(message: Message): Omit<ReplyState, 'parts' | 'kind'> {
  const { id, citations, usage, cost, model_id, finish_reason, latency_ms, error } = message
  return {
    id,
    citations: citations ?? [],
    status: STATUS_BY_FINISH_REASON[finish_reason ?? ''] ?? 'done',
    ...(usage === undefined ? {} : { usage }),
    ...(cost === undefined ? {} : { cost }),
    ...(model_id === undefined ? {} : { modelId: model_id }),
    ...(finish_reason === undefined ? {} : { finishReason: finish_reason }),
    ...(latency_ms === undefined ? {} : { latencyMs: latency_ms }),
    ...(error === undefined ? {} : { error }),
  }
}

/** The words of a reply. */
export function getText({ parts }: Pick<ReplyState, 'parts'>): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
}
