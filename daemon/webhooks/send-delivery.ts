/** Sends an event to a receiver and returns the outcome. */
import { createSignatureHeaders } from '../../src/webhook-signature.ts'
import type { Outbound } from '../outbound/client.ts'
import type { StoredEvent } from './outbox-store.ts'

const REQUEST_TIMEOUT_MS = 15_000
const MAX_RESPONSE_BYTES = 64 * 1024
const MAX_STORED_CHARACTERS = 1_000
/** HTTP status of a receiver that wants no more events. */
export const GONE = 410

export interface AttemptOutcome {
  /** Null without a response. */
  status: number | null
  /** The beginning of the response body. */
  body: string | null
  /** Null if the delivery succeeded. */
  error: string | null
  latencyMs: number
}

interface DeliveryRequest {
  webhook: { url: string; allow_private_network: boolean }
  secrets: readonly string[]
  event: StoredEvent
  now: number
  /** Aborts the attempt without an outcome. */
  signal: AbortSignal
}

export async function sendDelivery(outbound: Outbound, { webhook, secrets, event, now, signal }: DeliveryRequest): Promise<AttemptOutcome> {
  const startTime = performance.now()
  let status: number | null = null
  const outcome = (body: string | null, error: string | null): AttemptOutcome => ({
    status,
    body,
    error,
    latencyMs: Math.round(performance.now() - startTime),
  })
  try {
    const response = await outbound.request(webhook.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...createSignatureHeaders(secrets, { id: event.id, now, body: event.body }) },
      body: event.body,
      allowPrivateNetwork: webhook.allow_private_network,
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxBytes: MAX_RESPONSE_BYTES,
      maxRedirects: 0,
      signal,
      shouldReadBody: (responseStatus) => {
        status = responseStatus
        return true
      },
    })
    return outcome(truncateBody(response.body), describeStatus(response.status))
  } catch (error) {
    signal.throwIfAborted()
    // The status decides, even if the rest of the response never arrives.
    return outcome(null, status === null ? (error as Error).message : describeStatus(status))
  }
}

function describeStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status === GONE) return 'The receiver responded with 410 (Gone). The webhook was disabled.'
  if (status >= 300 && status < 400) return `The receiver responded with ${status}. Redirects are not followed.`
  return `The receiver responded with ${status}.`
}

function truncateBody(body: Uint8Array): string | null {
  if (body.length === 0) return null
  const text = new TextDecoder().decode(body).replaceAll('\0', '\uFFFD') // SQLite would end the text there
  return text.slice(0, MAX_STORED_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')
}
