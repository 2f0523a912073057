/** Decides after an attempt whether a delivery is finished or retried. */
import type { StoredDelivery } from './outbox-store.ts'
import { getNextAttempt } from './retry-schedule.ts'
import { type AttemptOutcome, GONE } from './send-delivery.ts'

/** Older attempts of a delivery are dropped. */
const MAX_HISTORY = 50

export interface Attempt {
  outcome: AttemptOutcome
  /** Start and end of the attempt, in epoch milliseconds. */
  begun: number
  ended: number
}

/** Returns the delivery as it is stored after the attempt. `random` is from 0 to below 1. */
export function settleDelivery(delivery: StoredDelivery, { outcome, begun, ended }: Attempt, random: number): StoredDelivery {
  const at = new Date(begun).toISOString()
  const { status, error, body, latencyMs } = outcome
  const step = delivery.step + 1
  const next = error === null || status === GONE ? undefined : getNextAttempt(step, ended, random)
  return {
    ...delivery,
    status: error === null ? 'delivered' : next === undefined ? 'failed' : 'pending',
    attempts: delivery.attempts + 1,
    step,
    response_status: status,
    response_body: body,
    error,
    last_attempt_at: at,
    next_attempt_at: next === undefined ? null : new Date(next).toISOString(),
    history: [...delivery.history, { at, response_status: status, error, latency_ms: latencyMs }].slice(-MAX_HISTORY),
    updated_at: new Date(ended).toISOString(),
  }
}
