/** The events of a reply in progress, for the daemon, `cadre ask` and the chat. */
import type { Static } from 'typebox'
import type { ErrorCode } from './errors.ts'
import type { Citation, Message, ToolCall } from './families/conversations.ts'

type Call = Static<typeof ToolCall>

export interface ReplyEvents {
  /** The first event. `user_message_id` is the message that the reply answers. */
  message_start: { conversation_id: string; message_id: string; user_message_id: string; model_id: string; agent_id: string | null }
  /** Passages for models that cannot call tools, numbered as in the citations of the text. */
  retrieval: { citations: Citation[] }
  tool_call: Pick<Call, 'id' | 'name' | 'arguments'>
  /** The tool call waits for a confirmation. */
  confirmation_required: Pick<Call, 'id' | 'name' | 'arguments'>
  /** `citations` are the passages that the tool returned, numbered as in the citations of the text. */
  tool_result: Pick<Call, 'id' | 'name' | 'result' | 'error' | 'latency_ms' | 'confirmation'> & { citations?: Citation[] }
  message_delta: { text: string }
  /** The last event of a completed or aborted reply. */
  message_end: { message: Message }
  /** The last event of a failed reply. The message contains the text so far. */
  error: { error: string; code: ErrorCode; message_id?: string; hint?: string }
}

export type ReplyEventName = keyof ReplyEvents
export type ReplyEvent = { [Name in ReplyEventName]: { event: Name; data: ReplyEvents[Name]; id?: string } }[ReplyEventName]

export const TERMINAL_EVENTS: readonly ReplyEventName[] = ['message_end', 'error']
