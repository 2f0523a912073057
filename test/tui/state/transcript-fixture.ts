/** Actions and queries for transcript tests. */

import type { ReplyEvent, ReplyEventName, ReplyEvents } from '../../../src/contract/reply-events.ts'
import type { Citation, Message } from '../../../src/contract/schemas/messages.ts'
import type { ReplyState } from '../../../src/tui/state/reply-reducer.ts'
import { EMPTY_TRANSCRIPT, reduceTranscript, type Transcript, type TranscriptAction } from '../../../src/tui/state/transcript-reducer.ts'

export const event = <Name extends ReplyEventName>(name: Name, data: ReplyEvents[Name], id?: number | string): TranscriptAction => ({
  kind: 'event',
  at: 1000,
  event: { event: name, data, ...(id === undefined ? {} : { id: String(id) }) } as ReplyEvent,
})
export const START = { conversation_id: 'conv_1', message_id: 'msg_2', user_message_id: 'msg_1', model_id: 'model_1', agent_id: 'agent_1' }
export const message = (fields: Partial<Message> = {}): Message => ({
  id: 'msg_2',
  role: 'assistant',
  content: 'Hello there.',
  timestamp: '2026-01-31T09:30:00.000Z',
  finish_reason: 'stop',
  ...fields,
})
export const citation = (index: number, fields: Partial<Citation> = {}): Citation => ({
  index,
  source: 'leave.md',
  page: 1,
  document_id: 'doc_1',
  content: 'Twenty-five days.',
  score: 0.9,
  cited: false,
  ...fields,
})
export const said: TranscriptAction = { kind: 'said', text: 'Hi' }
/** Makes writes to a state throw. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    for (const part of Object.values(Object.freeze(value))) deepFreeze(part)
  return value
}
export const after = (...actions: TranscriptAction[]): Transcript =>
  actions.reduce((state, action) => deepFreeze(reduceTranscript(state, deepFreeze(action))), deepFreeze(EMPTY_TRANSCRIPT))
export const last = ({ entries }: Transcript) => entries.at(-1) as ReplyState
export const tools = (reply: ReplyState | undefined) => (reply?.parts ?? []).flatMap((part) => (part.kind === 'tool' ? [part.tool] : []))
