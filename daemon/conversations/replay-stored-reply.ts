/** Replies that ended, told again from the store. */
import { CadreError } from '../../src/contract/errors.ts'
import type { ReplyEvent, ReplyEvents } from '../../src/contract/reply-events.ts'
import { createInterruptedError } from './agent-loop/write-reply.ts'
import type { ReplyOutcome } from './reply/active-reply.ts'
import type { StoredMessage } from './store.ts'

export interface StoredReply {
  start: ReplyEvents['message_start']
  outcome: ReplyOutcome
}

/** How a stored reply ended. One without an end was cut off. */
export function getOutcome(message: StoredMessage): ReplyOutcome {
  const { finish_reason = 'interrupted', error, error_code } = message
  if (finish_reason === 'interrupted') return { message, failure: createInterruptedError() }
  if (finish_reason === 'error') return { message, failure: new CadreError(error_code ?? 'INTERNAL', error ?? 'The reply failed.') }
  return { message }
}

/** The beginning, all of its text at once, and the end; only the end for whoever has had some of it already. */
export async function* replayStoredReply({ start, outcome: { message, failure } }: StoredReply, after = 0): AsyncGenerator<ReplyEvent> {
  let id = after
  const numbered = <E extends ReplyEvent>(event: E): E => ({ ...event, id: String(++id) })
  if (after === 0) {
    yield numbered({ event: 'message_start', data: start })
    if (message.content !== '') yield numbered({ event: 'message_delta', data: { text: message.content } })
  }
  if (!failure) yield numbered({ event: 'message_end', data: { message } })
  else {
    const { code, message: error, hint } = failure
    yield numbered({ event: 'error', data: { error, code, message_id: message.id, ...(hint ? { hint } : {}) } })
  }
}
