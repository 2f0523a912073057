/** One reply as state: its text and tools in the order they came, and what each event of the stream changes of it. */
import type { Static } from 'typebox'
import type { Citation as CitationSchema, Message as MessageSchema, Usage as UsageSchema } from '../../contract/families/conversations.ts'
import type { ReplyEvent, ReplyEvents } from '../../contract/reply-events.ts'

export type Citation = Static<typeof CitationSchema>
export type Message = Static<typeof MessageSchema>
export type Usage = Static<typeof UsageSchema>

export interface ToolUse {
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

export type Part = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'tool'; readonly tool: ToolUse }

export interface Reply {
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
const LONG_AGO = 0

export const NEW: Reply = { kind: 'reply', id: undefined, parts: [], citations: [], status: 'writing' }

/** A reply that is taken up again begins with events that were seen; their numbers grow. */
export function isKnown({ lastEventId }: Reply, { id }: ReplyEvent): boolean {
  if (id === undefined || lastEventId === undefined) return false
  const [now, before] = [Number(id), Number(lastEventId)]
  return Number.isNaN(now) || Number.isNaN(before) ? id === lastEventId : now <= before
}

/** The reply with what the event says. */
export function taken(reply: Reply, event: ReplyEvent, at: number): Reply {
  switch (event.event) {
    case 'message_delta':
      return withText(reply, event.data.text)
    case 'retrieval':
      return withCitations(reply, event.data.citations)
    case 'tool_call':
      return withTool(reply, event.data.id, (tool) => ({ ...tool, ...calledAs(event.data) }), at)
    case 'confirmation_required':
      return withTool(
        reply,
        event.data.id,
        (tool) => ({ ...tool, ...calledAs(event.data), state: tool.state === 'running' ? 'asking' : tool.state }),
        at,
      )
    case 'tool_result':
      return withCitations(
        withTool(reply, event.data.id, (tool) => resultOf(tool, event.data), at),
        event.data.citations ?? [],
      )
    default:
      return reply // a kind that only a newer service knows
  }
}

function withText(reply: Reply, text: unknown): Reply {
  if (typeof text !== 'string' || text === '') return reply
  const last = reply.parts.at(-1)
  if (last?.kind === 'text') return { ...reply, parts: [...reply.parts.slice(0, -1), { kind: 'text', text: last.text + text }] }
  return { ...reply, parts: [...reply.parts, { kind: 'text', text }] }
}

/** Changes the call of that id. With a time, one that nobody announced is made first: its result came before it. */
export function withTool(reply: Reply, id: string, change: (tool: ToolUse) => ToolUse, at?: number): Reply {
  const index = reply.parts.findIndex((part) => part.kind === 'tool' && part.tool.id === id)
  const known = reply.parts[index]
  if (known?.kind === 'tool') return { ...reply, parts: reply.parts.with(index, { kind: 'tool', tool: change(known.tool) }) }
  if (at === undefined) return reply
  return { ...reply, parts: [...reply.parts, { kind: 'tool', tool: change({ id, name: '', arguments: {}, state: 'running', since: at }) }] }
}

const calledAs = ({ name, arguments: given }: ReplyEvents['tool_call']) => ({ name, arguments: given ?? {} })

function resultOf(tool: ToolUse, data: Omit<ReplyEvents['tool_result'], 'id'>): ToolUse {
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

function withCitations(reply: Reply, more: readonly Citation[]): Reply {
  if (!Array.isArray(more) || more.length === 0) return reply
  const byIndex = new Map(reply.citations.map((citation) => [citation.index, citation]))
  for (const citation of more) byIndex.set(citation.index, citation)
  return { ...reply, citations: [...byIndex.values()].sort((a, b) => a.index - b.index) }
}

/** The stored message is what counts: what was missed on the way is in it. */
export function settled(reply: Reply, message: Message): Reply {
  let whole: Reply = { ...reply, ...factsOf(message) }
  for (const call of message.tool_calls ?? [])
    whole = withTool(whole, call.id, (tool) => resultOf({ ...tool, ...calledAs(call) }, call), LONG_AGO)
  const said = textOf(whole)
  if (said === message.content) return whole
  if (message.content.startsWith(said)) return withText(whole, message.content.slice(said.length))
  return { ...whole, parts: [...whole.parts.filter(({ kind }) => kind === 'tool'), { kind: 'text', text: message.content }] }
}

const STATUS: Record<string, Reply['status']> = { aborted: 'aborted', interrupted: 'interrupted', error: 'failed' }

function factsOf(message: Message): Omit<Reply, 'parts' | 'kind'> {
  const { id, citations, usage, cost, model_id, finish_reason, latency_ms, error } = message
  return {
    id,
    citations: citations ?? [],
    status: STATUS[finish_reason ?? ''] ?? 'done',
    ...(usage === undefined ? {} : { usage }),
    ...(cost === undefined ? {} : { cost }),
    ...(model_id === undefined ? {} : { modelId: model_id }),
    ...(finish_reason === undefined ? {} : { finishReason: finish_reason }),
    ...(latency_ms === undefined ? {} : { latencyMs: latency_ms }),
    ...(error === undefined ? {} : { error }),
  }
}

/** The words of a reply. */
export function textOf({ parts }: Pick<Reply, 'parts'>): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
}
