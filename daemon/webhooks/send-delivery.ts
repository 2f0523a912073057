/** One attempt to tell a receiver of an event, and what came of it. */
import { createSignatureHeaders } from '../../src/webhook-signature.ts'
import type { Outbound } from '../outbound/client.ts'
import type { StoredEvent } from './outbox-store.ts'

const REQUEST_TIMEOUT_MS = 15_000
/** Of an answer this much is read, and this much kept: enough to see what a receiver complains of. */
const MAX_RESPONSE_BYTES = 64 * 1024
const MAX_STORED_CHARACTERS = 1_000
/** The receiver wants no more events. */
export const GONE = 410

export interface AttemptOutcome {
  /** None where there was no answer. */
  status: number | null
  /** How the answer begins. */
  body: string | null
  /** Why the receiver does not have it; none where it has. */
  error: string | null
  latencyMs: number
}

export interface DeliveryRequest {
  webhook: { url: string; allow_private_network: boolean }
  secrets: readonly string[]
  event: StoredEvent
  now: number
  /** Ends it without an outcome. */
  signal: AbortSignal
}

export async function sendDelivery(outbound: Outbound, { webhook, secrets, event, now, signal }: DeliveryRequest): Promise<AttemptOutcome> {
  const begun = performance.now()
  let status: number | null = null
  const outcome = (body: string | null, error: string | null): AttemptOutcome => ({
    status,
    body,
    error,
    latencyMs: Math.round(performance.now() - begun),
  })
  try {
    const answer = await outbound.request(webhook.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...createSignatureHeaders(secrets, { id: event.id, now, body: event.body }) },
      body: event.body,
      allowPrivateNetwork: webhook.allow_private_network,
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxBytes: MAX_RESPONSE_BYTES,
      maxRedirects: 0,
      signal,
      shouldReadBody: (answered) => {
        status = answered
        return true
      },
    })
    return outcome(truncateBody(answer.body), describeStatus(answer.status))
  } catch (error) {
    signal.throwIfAborted()
    // Its status says whether the receiver has it, also where the rest of the answer never comes.
    return outcome(null, status === null ? (error as Error).message : describeStatus(status))
  }
}

function describeStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status === GONE) return 'The receiver answered 410: it wants no more events, and the webhook was disabled.'
  if (status >= 300 && status < 400) return `The receiver answered ${status}; redirects are not followed.`
  return `The receiver answered ${status}.`
}

function truncateBody(body: Uint8Array): string | null {
  if (body.length === 0) return null
  const text = new TextDecoder().decode(body).replaceAll('\0', '\uFFFD') // which the database would take for its end
  return text.slice(0, MAX_STORED_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')
}
