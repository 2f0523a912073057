/** Follows webhook events across reconnects without losing or repeating any. */
import { setTimeout as wait } from 'node:timers/promises'
import { stream } from '../../client/call.ts'
import { UnreachableError } from '../../client/errors.ts'
import type { Connection } from '../../client/request.ts'
import { type DeliveryDetails, webhookRoutes } from '../../contract/families/webhooks.ts'
import { WEBHOOK_EVENTS } from '../../contract/webhook-events.ts'

/** The body of a webhook and its webhook-id. */
export type WebhookEvent = DeliveryDetails['body'] & { id: string }

interface FollowEventsOptions {
  /** Called for each attempt, because a restarted daemon may have another address. */
  connect(): Promise<Connection>
  notify(line: string): void
  types: string | undefined
  /** Position in the stream to start after; undefined for new events only. */
  after: number | undefined
}

const INITIAL_BACKOFF_MS = 500
const MAX_BACKOFF_MS = 5_000

export async function* followEvents({ connect, notify, types, after }: FollowEventsOptions): AsyncGenerator<WebhookEvent> {
  let position = after
  let hasConnected = false
  let backoff = 0
  for (;;) {
    try {
      const query = { types, after: position }
      for await (const { event, data, id } of stream(await connect(), webhookRoutes.events, { query })) {
        // The error event ends the stream and has no position.
        if (event === 'error') break
        position = Number(id)
        backoff = 0
        if (event !== 'ready') yield JSON.parse(data) as WebhookEvent
        else
          notify(
            hasConnected
              ? 'Reconnected.'
              : `Listening for events (${types?.replaceAll(',', ', ') ?? WEBHOOK_EVENTS.join(', ')}). Press Ctrl+C to stop.`,
          )
        hasConnected = true
      }
    } catch (error) {
      // Errors of the first connection are reported; later ones are retried.
      if (!hasConnected || !isInterruption(error)) throw error
    }
    if (backoff === 0) notify('Connection lost. Reconnecting; no events will be lost.')
    backoff = Math.min(backoff * 2 || INITIAL_BACKOFF_MS, MAX_BACKOFF_MS)
    await wait(backoff)
  }
}

/** Whether the daemon is unreachable, stopping or closed the connection. */
function isInterruption(error: unknown): boolean {
  const { code = '' } = error as { code?: string }
  return (
    error instanceof UnreachableError || ['UNAVAILABLE', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code)
  )
}
