/** Replies that ended, told again from the store. */
import { CadreError } from '../../src/contract/errors.ts'
import type { ReplyEvent, ReplyEvents } from '../../src/contract/reply-events.ts'
import { interrupted } from './agent-loop/write-reply.ts'
import type { Outcome } from './reply/active-reply.ts'
import type { StoredMessage } from './store.ts'

export interface Told {
  start: ReplyEvents['message_start']
  outcome: Outcome
}

/** How a stored reply ended. One without an end was cut off. */
export function outcomeOf(message: StoredMessage): Outcome {
  const { finish_reason = 'interrupted', error, error_code } = message
  if (finish_reason === 'interrupted') return { message, failure: interrupted() }
  if (finish_reason === 'error') return { message, failure: new CadreError(error_code ?? 'INTERNAL', error ?? 'The reply failed.') }
  return { message }
}

/** The beginning, all of its text at once, and the end; only the end for whoever has had some of it already. */
export async function* retold({ start, outcome: { message, failure } }: Told, after = 0): AsyncGenerator<ReplyEvent> {
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
