/** Reduces events of replies and actions of the user to the transcript. */
import { formatHistoryNotes } from '../../cli/ask/notes/format-history.ts'
import { findRemembered, formatRemembered } from '../../cli/ask/notes/format-remembered.ts'
import type { ReplyEvent, ReplyEvents } from '../../contract/reply-events.ts'
import type { Message } from '../../contract/schemas/messages.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import {
  applyEvent,
  applyMessage,
  isKnownEvent,
  NEW_REPLY,
  type Part,
  type ReplyState,
  type ToolCall,
  updateToolCall,
} from './reply-reducer.ts'

export interface UserMessage {
  readonly kind: 'said'
  readonly text: string
}

/** Output of a command or an error, as text or Markdown. */
export interface Note {
  readonly kind: 'note'
  readonly tone: 'plain' | 'good' | 'bad'
  readonly text: string
  readonly markdown?: boolean
  /** Parts of a reply that are shown in full below the text. */
  readonly details?: readonly Part[]
  /** Marks the start of another conversation. */
  readonly startsConversation?: boolean
}

export type Entry = UserMessage | ReplyState | Note

export interface Transcript {
  readonly entries: readonly Entry[]
  readonly live: ReplyState | undefined
  /** A message was sent and its reply has not ended. */
  readonly isAwaitingReply: boolean
}

export type TranscriptAction =
  | { kind: 'said'; text: string }
  /** Follows a reply in progress from its start. */
  | { kind: 'joined'; reply: string }
  | { kind: 'event'; event: ReplyEvent; at: number }
  /** The stream ended without a terminal event. */
  | { kind: 'ended'; status: 'aborted' | 'interrupted' | 'failed'; error?: string; hint?: string }
  | { kind: 'answered'; tool: string; allow: boolean; at: number; arguments?: Record<string, unknown> }
  | { kind: 'loaded'; messages: readonly Message[] }
  | ({ kind: 'noted'; tone?: Note['tone'] } & Omit<Note, 'kind' | 'tone'>)

export const EMPTY_TRANSCRIPT: Transcript = { entries: [], live: undefined, isAwaitingReply: false }

export function reduceTranscript(state: Transcript, action: TranscriptAction): Transcript {
  switch (action.kind) {
    case 'said':
      return { ...state, entries: [...state.entries, { kind: 'said', text: action.text }], isAwaitingReply: true }
    case 'joined':
      return { ...state, live: { ...NEW_REPLY, id: action.reply }, isAwaitingReply: true }
    case 'event':
      return applyReplyEvent(state, action.event, action.at)
    case 'ended':
      return endReply(state, action)
    case 'answered':
      return updateLive(state, (reply) =>
        updateToolCall(reply, action.tool, (tool) =>
          tool.state === 'asking'
            ? { ...tool, state: action.allow ? 'running' : 'refused', since: action.at, arguments: action.arguments ?? tool.arguments }
            : tool,
        ),
      )
    case 'loaded':
      return { ...state, entries: [...state.entries, ...action.messages.map(toEntry)] }
    case 'noted':
      return { ...state, entries: [...state.entries, { tone: 'plain', ...action, kind: 'note' }] }
  }
}

function applyReplyEvent(state: Transcript, event: ReplyEvent, at: number): Transcript {
  if (event.event === 'message_start') return startReply(state, event)
  if (event.event === 'message_end') return finishReply(state, event.data.message)
  const reply = state.live ?? (state.isAwaitingReply ? NEW_REPLY : undefined)
  if (!reply || isKnownEvent(reply, event)) return state
  if (event.event === 'error') return failReply(state, reply, event.data)
  const next = { ...applyEvent(reply, event, at), ...omitUndefined({ lastEventId: event.id }) }
  return { ...state, live: next, isAwaitingReply: true }
}

function startReply(state: Transcript, event: Extract<ReplyEvent, { event: 'message_start' }>): Transcript {
  const { message_id: id, user_message_id: question } = event.data
  if (state.entries.some((entry) => entry.kind === 'reply' && entry.id === id)) return state
  const { live } = state
  if (live && isKnownEvent(live, event)) return state
  const fields = { id, question, ...omitUndefined({ lastEventId: event.id }) }
  if (live && live.id !== undefined && live.id !== id) return startReply(endReply(state, { status: 'interrupted' }), event)
  // Sent again from the start and without ids: replaces the text.
  const isRestart = live?.id === id && event.id === undefined
  return { ...state, live: { ...(live && !isRestart ? live : NEW_REPLY), ...fields }, isAwaitingReply: true }
}

function updateLive(state: Transcript, change: (reply: ReplyState) => ReplyState): Transcript {
  return state.live ? { ...state, live: change(state.live) } : state
}

function failReply(state: Transcript, reply: ReplyState, { error, hint, message_id }: ReplyEvents['error']): Transcript {
  const id = reply.id ?? message_id
  return endReply({ ...state, live: { ...reply, id } }, { status: 'failed', error, hint })
}

function endReply(state: Transcript, { status, error, hint }: { status: ReplyState['status']; error?: string; hint?: string }): Transcript {
  const { live } = state
  if (!live && !state.isAwaitingReply) return state
  // Running tool calls will not finish.
  const parts = (live ?? NEW_REPLY).parts.map((part) =>
    part.kind === 'tool' && (part.tool.state === 'running' || part.tool.state === 'asking')
      ? { ...part, tool: { ...part.tool, state: 'failed' as const, error: 'The reply ended before the tool call.' } }
      : part,
  )
  const reply: ReplyState = { ...(live ?? NEW_REPLY), parts, status, ...omitUndefined({ error, hint }) }
  return { entries: [...state.entries, reply], live: undefined, isAwaitingReply: false }
}

function finishReply(state: Transcript, message: Message): Transcript {
  const { live } = state
  const index = state.entries.findIndex((entry) => entry.kind === 'reply' && entry.id === message.id)
  if (index >= 0) return { ...state, entries: state.entries.with(index, applyMessage(state.entries[index] as ReplyState, message)) }
  if (live && live.id !== undefined && live.id !== message.id) return state
  const entries = [...state.entries, applyMessage(live ?? NEW_REPLY, message), ...createNotes(state, message)]
  return { entries, live: undefined, isAwaitingReply: false }
}

/** Notes below a reply: what the agent remembered, and a summary when it was written or extended. */
function createNotes({ entries }: Transcript, message: Message): Note[] {
  const previous = entries.findLast((entry) => entry.kind === 'reply')
  const isKnown = previous?.kind === 'reply' && previous.summarizedMessages === message.summarized_messages
  const { omitted_messages = 0, summarized_messages = 0 } = message
  const notes = formatHistoryNotes({ omitted_messages, summarized_messages: isKnown ? 0 : summarized_messages }, '/summary')
  const remembered = (message.tool_calls ?? []).flatMap((call) => findRemembered(call) ?? [])
  const undo = remembered.some(({ isKnown }) => !isKnown) ? '\nTo undo: /memory undo' : ''
  const facts = remembered.length === 0 ? [] : [remembered.map(formatRemembered).join('\n') + undo]
  return [...facts, ...notes].map((text) => ({ kind: 'note', tone: 'plain', text }))
}

function toEntry(message: Message, index: number, messages: readonly Message[]): Entry {
  if (message.role === 'user') return { kind: 'said', text: message.content }
  const question = messages[index - 1]
  return applyMessage({ ...NEW_REPLY, ...(question?.role === 'user' ? { question: question.id } : {}) }, message)
}

/** Returns the tool calls that wait for a confirmation. */
export function listPendingConfirmations({ live }: Transcript): ToolCall[] {
  return (live?.parts ?? []).flatMap((part) => (part.kind === 'tool' && part.tool.state === 'asking' ? [part.tool] : []))
}

/** Returns the first of them, which is asked about. */
export const findPendingConfirmation = (transcript: Transcript): ToolCall | undefined => listPendingConfirmations(transcript)[0]
