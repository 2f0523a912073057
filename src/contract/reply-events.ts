/** The events of a reply as it is written: one union for the daemon that makes them, `ask` that prints them and the chat that shows them. */
import type { Static } from 'typebox'
import type { ErrorCode } from './errors.ts'
import type { Citation, Message, ToolCall } from './families/conversations.ts'

type Call = Static<typeof ToolCall>

export interface ReplyEvents {
  /** First of all. `user_message_id` is the message it answers. */
  message_start: { conversation_id: string; message_id: string; user_message_id: string; model_id: string; agent_id: string | null }
  /** Passages that were found for the question, for models that do not call tools; numbered as the text will cite them. */
  retrieval: { citations: Static<typeof Citation>[] }
  tool_call: Pick<Call, 'id' | 'name' | 'arguments'>
  /** The call of that id waits until somebody allows or refuses it. */
  confirmation_required: Pick<Call, 'id' | 'name' | 'arguments'>
  /** `citations` are the passages the call gave the model, numbered as the text will cite them. */
  tool_result: Pick<Call, 'id' | 'name' | 'result' | 'error' | 'latency_ms' | 'confirmation'> & { citations?: Static<typeof Citation>[] }
  message_delta: { text: string }
  /** Last, when all went well or the caller aborted it. */
  message_end: { message: Static<typeof Message> }
  /** Last, when it failed. What was written before is stored in the message. */
  error: { error: string; code: ErrorCode; message_id?: string; hint?: string }
}

export type ReplyEventName = keyof ReplyEvents
export type ReplyEvent = { [Name in ReplyEventName]: { event: Name; data: ReplyEvents[Name]; id?: string } }[ReplyEventName]

export const TERMINAL_EVENTS: readonly ReplyEventName[] = ['message_end', 'error']
