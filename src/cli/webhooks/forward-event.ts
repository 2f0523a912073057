/** Forwards an event to a receiver, signed like a webhook. */

import { createDeadlineSignal, scaleTimeout } from '../../deadline.ts'
import { createSignatureHeaders } from '../../webhook-signature.ts'
import { paint } from '../terminal/color.ts'
import type { WebhookEvent } from './follow-events.ts'

const REQUEST_TIMEOUT_MS = 15_000

/** Returns the response status or the error as text. */
export async function forwardEvent(url: string, secret: string, { id, ...event }: WebhookEvent): Promise<string> {
  const body = JSON.stringify(event)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Cadre',
    // A receiver in development restarts often. A kept connection would fail then, although the receiver is up again.
    connection: 'close',
    ...createSignatureHeaders([secret], { id, now: Date.now(), body }),
  }
  const begun = performance.now()
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: createDeadlineSignal(scaleTimeout(REQUEST_TIMEOUT_MS)),
    })
    await answer.body?.cancel()
    const text = `${answer.status} after ${Math.round(performance.now() - begun)} ms`
    return paint(answer.ok ? 'green' : 'red', text)
  } catch (error) {
    const { name, message, cause } = error as Error
    const why = cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : message
    return paint('red', name === 'TimeoutError' ? `no response within ${REQUEST_TIMEOUT_MS / 1000} s` : `connection failed (${why})`)
  }
}
