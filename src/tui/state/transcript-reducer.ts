/** What was said, as state: a pure reducer from events of a reply, and what the person does, to what the screen shows. */
import type { ReplyEvent, ReplyEvents } from '../../contract/reply-events.ts'
import { isKnown, type Message, NEW, type Reply, settled, type ToolUse, taken, withTool } from './reply-reducer.ts'

export interface Said {
  readonly kind: 'said'
  readonly text: string
}

/** A line of the chat itself: what a command found, what went wrong. Text, or Markdown where there is more to it. */
export interface Note {
  readonly kind: 'note'
  readonly tone: 'plain' | 'good' | 'bad'
  readonly text: string
  readonly markdown?: boolean
  /** Another conversation begins with it. */
  readonly begins?: boolean
}

export type Entry = Said | Reply | Note

export interface Transcript {
  readonly entries: readonly Entry[]
  readonly live: Reply | undefined
  /** Something was asked, and its reply has not ended. */
  readonly awaiting: boolean
}

export type Happening =
  | { kind: 'said'; text: string }
  /** A reply that is being written already is followed from its beginning. */
  | { kind: 'joined'; reply: string }
  | { kind: 'event'; event: ReplyEvent; at: number }
  /** The stream is over without an end of its own. */
  | { kind: 'ended'; status: 'aborted' | 'interrupted' | 'failed'; error?: string; hint?: string }
  | { kind: 'answered'; tool: string; allow: boolean; at: number }
  | { kind: 'loaded'; messages: readonly Message[] }
  | ({ kind: 'noted'; tone?: Note['tone'] } & Omit<Note, 'kind' | 'tone'>)

export const EMPTY: Transcript = { entries: [], live: undefined, awaiting: false }

export function transcribe(state: Transcript, happening: Happening): Transcript {
  switch (happening.kind) {
    case 'said':
      return { ...state, entries: [...state.entries, { kind: 'said', text: happening.text }], awaiting: true }
    case 'joined':
      return { ...state, live: { ...NEW, id: happening.reply }, awaiting: true }
    case 'event':
      return heard(state, happening.event, happening.at)
    case 'ended':
      return ended(state, happening)
    case 'answered':
      return withLive(state, (reply) =>
        withTool(reply, happening.tool, (tool) =>
          tool.state === 'asking' ? { ...tool, state: happening.allow ? 'running' : 'refused', since: happening.at } : tool,
        ),
      )
    case 'loaded':
      return { ...state, entries: [...state.entries, ...happening.messages.map(entryOf)] }
    case 'noted':
      return { ...state, entries: [...state.entries, { tone: 'plain', ...happening, kind: 'note' }] }
  }
}

function heard(state: Transcript, event: ReplyEvent, at: number): Transcript {
  if (event.event === 'message_start') return started(state, event)
  if (event.event === 'message_end') return finished(state, event.data.message)
  const reply = state.live ?? (state.awaiting ? NEW : undefined)
  if (!reply || isKnown(reply, event)) return state
  if (event.event === 'error') return failed(state, reply, event.data)
  const next = { ...taken(reply, event, at), ...(event.id === undefined ? {} : { lastEventId: event.id }) }
  return { ...state, live: next, awaiting: true }
}

function started(state: Transcript, event: Extract<ReplyEvent, { event: 'message_start' }>): Transcript {
  const { message_id: id, model_id: modelId } = event.data
  if (state.entries.some((entry) => entry.kind === 'reply' && entry.id === id)) return state
  const { live } = state
  if (live && isKnown(live, event)) return state
  const marked = { id, modelId, ...(event.id === undefined ? {} : { lastEventId: event.id }) }
  if (live && live.id !== undefined && live.id !== id) return started(ended(state, { status: 'interrupted' }), event)
  // Told again from its beginning, without numbers: what it says replaces what it said.
  const again = live?.id === id && event.id === undefined
  return { ...state, live: { ...(live && !again ? live : NEW), ...marked }, awaiting: true }
}

function withLive(state: Transcript, change: (reply: Reply) => Reply): Transcript {
  return state.live ? { ...state, live: change(state.live) } : state
}

function failed(state: Transcript, reply: Reply, { error, hint, message_id }: ReplyEvents['error']): Transcript {
  const id = reply.id ?? message_id
  return ended({ ...state, live: { ...reply, id } }, { status: 'failed', error, ...(hint === undefined ? {} : { hint }) })
}

function ended(state: Transcript, { status, error, hint }: { status: Reply['status']; error?: string; hint?: string }): Transcript {
  const { live } = state
  if (!live && !state.awaiting) return state
  // What was running will not come back.
  const parts = (live ?? NEW).parts.map((part) =>
    part.kind === 'tool' && (part.tool.state === 'running' || part.tool.state === 'asking')
      ? { ...part, tool: { ...part.tool, state: 'failed' as const, error: 'The reply ended before the tool did.' } }
      : part,
  )
  const reply: Reply = {
    ...(live ?? NEW),
    parts,
    status,
    ...(error === undefined ? {} : { error }),
    ...(hint === undefined ? {} : { hint }),
  }
  return { entries: [...state.entries, reply], live: undefined, awaiting: false }
}

function finished(state: Transcript, message: Message): Transcript {
  const { live } = state
  const known = state.entries.findIndex((entry) => entry.kind === 'reply' && entry.id === message.id)
  if (known >= 0) return { ...state, entries: state.entries.with(known, settled(state.entries[known] as Reply, message)) }
  if (live && live.id !== undefined && live.id !== message.id) return state
  return { entries: [...state.entries, settled(live ?? NEW, message)], live: undefined, awaiting: false }
}

/** A stored message as it is shown. */
export function entryOf(message: Message): Entry {
  return message.role === 'user' ? { kind: 'said', text: message.content } : settled(NEW, message)
}

/** The call that waits for a yes or a no, if one does. */
export function asking({ live }: Transcript): ToolUse | undefined {
  const part = live?.parts.find((each) => each.kind === 'tool' && each.tool.state === 'asking')
  return part?.kind === 'tool' ? part.tool : undefined
}
