/** A reply as it is written: typed events, exactly one end, and a cut connection taken up again where that is wanted. */
import { setTimeout as wait } from 'node:timers/promises'
import { CadreError } from '../contract/errors.ts'
import { conversationRoutes } from '../contract/families/conversations.ts'
import { type ReplyEvent, type ReplyEventName, TERMINAL_EVENTS } from '../contract/reply-events.ts'
import type { ServerEvent } from '../sse.ts'
import { stream } from './call.ts'
import { UnreachableError } from './errors.ts'
import type { Connection } from './request.ts'

/** A message to send, or the reply of another call to follow. */
export type ReplyRequest =
  | {
      conversation: string
      message: string
      wait?: boolean
      /** Under the same key a message is sent once, however often it is tried. */
      key?: string
      /** A model to answer with, instead of the agent's. */
      model?: string
    }
  | { conversation: string; reply: string; after?: string }

export interface FollowOptions {
  signal?: AbortSignal
  /** How often a connection that is cut is taken up again; never when left out. */
  maxReconnects?: number
  /** How many milliseconds of silence mean that nobody is there any more. */
  idleTimeoutMs?: number
}

/** The daemon says something every 10 seconds. */
const IDLE_TIMEOUT_MS = 35_000
const RECONNECT_DELAY_MS = 250

const EVENT_NAMES: Record<ReplyEventName, true> = {
  message_start: true,
  retrieval: true,
  tool_call: true,
  confirmation_required: true,
  tool_result: true,
  message_delta: true,
  message_end: true,
  error: true,
}

/** The event of a reply in an event of the stream; undefined for a kind that only a newer service knows. */
export function parseReplyEvent({ event, data, id }: ServerEvent): ReplyEvent | undefined {
  if (!Object.hasOwn(EVENT_NAMES, event)) return undefined
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch (error) {
    throw createUnreadableEventError(event, error)
  }
  if (typeof value !== 'object' || value === null) throw createUnreadableEventError(event)
  return { event, data: value, ...(id === undefined ? {} : { id }) } as ReplyEvent
}

function createUnreadableEventError(event: string, cause?: unknown): UnreachableError {
  return new UnreachableError(`The service sent an event (${event}) that cannot be read.`, {
    hint: 'Is there a proxy in between? Another version of the service answers like that, too.',
    cause,
  })
}

export function isTerminal({ event }: Pick<ReplyEvent, 'event'>): boolean {
  return TERMINAL_EVENTS.includes(event)
}

/** The events of one reply, up to and with its terminal one. A stream that ends without it throws an UnreachableError. */
export async function* followReply(
  connection: Connection,
  followed: ReplyRequest,
  options: FollowOptions = {},
): AsyncGenerator<ReplyEvent, void> {
  const { conversation } = followed
  let reply = 'reply' in followed ? followed.reply : undefined
  let next = followed
  for (let left = options.maxReconnects ?? 0; ; left--) {
    let cause: unknown
    try {
      for await (const sent of readEvents(connection, next, options)) {
        const event = parseReplyEvent(sent)
        if (!event) continue
        if (event.event === 'message_start') reply = event.data.message_id
        if (reply !== undefined) next = { conversation, reply, ...(event.id === undefined ? {} : { after: event.id }) }
        yield event
        if (isTerminal(event)) return
      }
    } catch (error) {
      // Before anything came, what went wrong is said as it is; after that nobody answering is a cut as well.
      if (!(error instanceof ConnectionLostError) && !(error instanceof UnreachableError && next !== followed)) throw error
      cause = error instanceof ConnectionLostError ? error.cause : error
    }
    if (left <= 0 || reply === undefined) throw new ConnectionLostError(conversation, cause)
    connection.notify('The connection was cut; taking it up again.')
    await wait(RECONNECT_DELAY_MS, undefined, options.signal ? { signal: options.signal } : {})
  }
}

/** The connection ended before the reply did. */
class ConnectionLostError extends UnreachableError {
  constructor(conversation: string, cause: unknown) {
    super('The connection ended before the reply did.', {
      hint: `What was written is kept: cadre conversations show ${conversation}`,
      cause,
    })
  }
}

async function* readEvents(connection: Connection, followed: ReplyRequest, options: FollowOptions): AsyncGenerator<ServerEvent> {
  try {
    yield* openStream(connection, followed, options)
  } catch (error) {
    if (options.signal?.aborted || error instanceof CadreError || error instanceof UnreachableError) throw error
    throw new ConnectionLostError(followed.conversation, error)
  }
}

function openStream(
  connection: Connection,
  followed: ReplyRequest,
  { signal, idleTimeoutMs: longestSilence = IDLE_TIMEOUT_MS }: FollowOptions,
): AsyncGenerator<ServerEvent> {
  const options = { longestSilence, ...(signal ? { signal } : {}) }
  const { conversation: id } = followed
  if ('message' in followed) {
    const { message, wait: waits, model } = followed
    const body = { message, stream: true, ...(waits ? { wait: true } : {}), ...(model === undefined ? {} : { model_id: model }) }
    const headers = followed.key === undefined ? {} : { 'idempotency-key': followed.key }
    return stream(connection, conversationRoutes.send, { params: { id }, body }, { ...options, headers })
  }
  const headers = followed.after === undefined ? {} : { 'last-event-id': followed.after }
  return stream(connection, conversationRoutes.events, { params: { id, message_id: followed.reply } }, { ...options, headers })
}
