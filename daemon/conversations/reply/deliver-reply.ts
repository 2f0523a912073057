/** Waits for a reply, or follows its events. */
import type { StreamEvent } from '../../../src/contract/route.ts'
import { DeferredResponse } from '../../core/deferred-response.ts'
import type { StoredMessage } from '../store.ts'
import type { ActiveReply, ReplyOutcome } from './active-reply.ts'

/** The complete reply, or its events. */
export type DeferredReply = DeferredResponse<StoredMessage> | DeferredResponse<AsyncIterable<StreamEvent>>

/** Follows the reply synchronously, so that it is not aborted for lack of followers. */
export function deliverReply(reply: ActiveReply, stream: boolean, signal: AbortSignal): DeferredReply {
  if (!stream) {
    const outcome = reply.waitForOutcome(signal)
    outcome.catch(() => undefined) // the client disconnected
    return new DeferredResponse(async () => requireSuccess(await outcome))
  }
  const follower = reply.follow()
  const leave = () => void follower.return?.()
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  return new DeferredResponse(async () => {
    await reply.waitForFirstEvent()
    if (reply.outcome?.failure && reply.events.length === EVENTS_BEFORE_TEXT) throw reply.outcome.failure
    return follower
  })
}

/** Number of events of a reply that failed before its first text: message_start and error. */
const EVENTS_BEFORE_TEXT = 2

function requireSuccess({ message, failure }: ReplyOutcome): StoredMessage {
  if (failure) throw failure
  return message
}
