/** Events of the service as they happen, over as many connections as that takes: none is missed, and none comes twice. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Static } from 'typebox'
import { stream } from '../../client/call.ts'
import { UnreachableError } from '../../client/failures.ts'
import type { Connection } from '../../client/request.ts'
import { type DeliveryDetails, WEBHOOK_EVENTS, webhookRoutes } from '../../contract/families/webhooks.ts'

/** What is sent, and the identifier it has. */
export type WebhookEvent = Static<typeof DeliveryDetails>['body'] & { id: string }

export interface FollowEventsOptions {
  /** Anew each time: a daemon that was restarted may be at another address. */
  connect(): Promise<Connection>
  narrate(line: string): void
  types: string | undefined
  /** Begin behind this place; at the end when left out. */
  after: number | undefined
}

const INITIAL_BACKOFF_MS = 500
const MAX_BACKOFF_MS = 5_000

export async function* followEvents({ connect, narrate, types, after }: FollowEventsOptions): AsyncGenerator<WebhookEvent> {
  let place = after
  let greeted = false
  let pause = 0
  for (;;) {
    try {
      const query = { ...(types === undefined ? {} : { types }), ...(place === undefined ? {} : { after: place }) }
      for await (const { event, data, id } of stream(await connect(), webhookRoutes.events, { query })) {
        // What a stream says of its own end has no place in the order of events.
        if (event === 'error') break
        place = Number(id)
        pause = 0
        if (event !== 'ready') yield JSON.parse(data) as WebhookEvent
        else
          narrate(
            greeted
              ? 'The connection is back.'
              : `Listening for events (${types?.replaceAll(',', ', ') ?? WEBHOOK_EVENTS.join(', ')}); Ctrl-C ends it.`,
          )
        greeted = true
      }
    } catch (error) {
      // Whoever was never answered is told why.
      if (!greeted || !isInterruption(error)) throw error
    }
    if (pause === 0) narrate('The connection ended; what happens meanwhile comes when it is back.')
    pause = Math.min(pause * 2 || INITIAL_BACKOFF_MS, MAX_BACKOFF_MS)
    await wait(pause)
  }
}

/** A daemon that is not there, is stopping, or went away in the middle of a word. */
function isInterruption(error: unknown): boolean {
  const { code = '' } = error as { code?: string }
  return error instanceof UnreachableError || ['UNAVAILABLE', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code)
}
