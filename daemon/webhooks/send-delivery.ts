/** One attempt to tell a receiver of an event, and what came of it. */
import { createSignatureHeaders } from '../../src/webhook-signature.ts'
import type { Outbound } from '../outbound/client.ts'
import type { StoredEvent } from './outbox-store.ts'

const TIMEOUT_MS = 15_000
/** Of an answer this much is read, and this much kept: enough to see what a receiver complains of. */
const MOST_READ_BYTES = 64 * 1024
const MOST_KEPT_CHARACTERS = 1_000
/** The receiver wants no more events. */
export const GONE = 410

export interface Outcome {
  /** None where there was no answer. */
  status: number | null
  /** How the answer begins. */
  body: string | null
  /** Why the receiver does not have it; none where it has. */
  error: string | null
  latencyMs: number
}

export interface Attempt {
  webhook: { url: string; allow_private_network: boolean }
  secrets: readonly string[]
  event: StoredEvent
  now: number
  /** Ends it without an outcome. */
  signal: AbortSignal
}

export async function attempt(outbound: Outbound, { webhook, secrets, event, now, signal }: Attempt): Promise<Outcome> {
  const begun = performance.now()
  let status: number | null = null
  const outcome = (body: string | null, error: string | null): Outcome => ({
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
      timeoutMs: TIMEOUT_MS,
      maxBytes: MOST_READ_BYTES,
      maxRedirects: 0,
      signal,
      shouldReadBody: (answered) => {
        status = answered
        return true
      },
    })
    return outcome(beginningOf(answer.body), problemOf(answer.status))
  } catch (error) {
    signal.throwIfAborted()
    // Its status says whether the receiver has it, also where the rest of the answer never comes.
    return outcome(null, status === null ? (error as Error).message : problemOf(status))
  }
}

function problemOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status === GONE) return 'The receiver answered 410: it wants no more events, and the webhook was disabled.'
  if (status >= 300 && status < 400) return `The receiver answered ${status}; redirects are not followed.`
  return `The receiver answered ${status}.`
}

function beginningOf(body: Uint8Array): string | null {
  if (body.length === 0) return null
  const text = new TextDecoder().decode(body).replaceAll('\0', '\uFFFD') // which the database would take for its end
  return text.slice(0, MOST_KEPT_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')
}
