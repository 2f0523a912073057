/** Replays the events of a stored reply. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { ReplyEvent, ReplyEvents } from '../../../src/contract/reply-events.ts'
import { createInterruptedError } from '../agent-loop/write-reply.ts'
import type { StoredMessage } from '../store.ts'
import { createErrorData, type ReplyOutcome } from './active-reply.ts'

export interface StoredReply {
  start: ReplyEvents['message_start']
  outcome: ReplyOutcome
}

/** A stored reply without a finish reason was interrupted. */
export function getOutcome(message: StoredMessage): ReplyOutcome {
  const { finish_reason = 'interrupted', error, error_code } = message
  if (finish_reason === 'interrupted') return { message, failure: createInterruptedError() }
  if (finish_reason === 'error') return { message, failure: new CadreError(error_code ?? 'INTERNAL', error ?? 'The reply failed.') }
  return { message }
}

/** Yields the start, the complete text as one delta, and the end; only the end if the client already received events. */
export async function* replayStoredReply({ start, outcome: { message, failure } }: StoredReply, after = 0): AsyncGenerator<ReplyEvent> {
  let id = after
  const withId = <E extends ReplyEvent>(event: E): E => ({ ...event, id: String(++id) })
  if (after === 0) {
    yield withId({ event: 'message_start', data: start })
    if (message.content !== '') yield withId({ event: 'message_delta', data: { text: message.content } })
  }
  if (failure) yield withId({ event: 'error', data: createErrorData(failure, message.id) })
  else yield withId({ event: 'message_end', data: { message } })
}
