/** Follows a reply: typed events, exactly one terminal event, and reconnects after a lost connection. */
import { setTimeout as sleep } from 'node:timers/promises'
import { CadreError } from '../contract/errors.ts'
import { conversationRoutes } from '../contract/families/conversations.ts'
import { REPLY_EVENTS, type ReplyEvent, TERMINAL_EVENTS } from '../contract/reply-events.ts'
import type { MessageImage } from '../contract/schemas/images.ts'
import type { ServerEvent } from '../sse.ts'
import { stream } from './call.ts'
import { UnreachableError } from './errors.ts'
import type { Connection } from './request.ts'

/** A message to send, or an existing reply to follow. */
export type ReplyRequest =
  | {
      conversation: string
      /** Optional for a retry: the last message of the conversation. */
      message?: string
      images?: readonly MessageImage[]
      /** Answer the last message again if its reply failed, instead of sending it twice. */
      retry?: boolean
      /** Replace the last message and its reply. */
      replace?: boolean
      /** Wait for the running reply of the conversation instead of failing. */
      wait?: boolean
      /** Idempotency key: retries do not send the message twice. */
      key?: string
      /** Overrides the model of the agent. */
      model?: string
    }
  | { conversation: string; reply: string; after?: string }

export interface FollowOptions {
  signal?: AbortSignal
  /** Default: 0. */
  maxReconnects?: number
  idleTimeoutMs?: number
}

const RECONNECT_DELAY_MS = 250

/** Returns undefined for an event that only a newer service sends. */
export function parseReplyEvent({ event, data, id }: ServerEvent): ReplyEvent | undefined {
  if (!Object.hasOwn(REPLY_EVENTS, event)) return undefined
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
  return new UnreachableError(`The service sent an unreadable event (${event}).`, {
    hint: 'Check whether a proxy or another version of the service responds at this URL.',
    cause,
  })
}

function isTerminal({ event }: Pick<ReplyEvent, 'event'>): boolean {
  return TERMINAL_EVENTS.includes(event)
}

/** Yields the events of one reply including its terminal event. Throws an UnreachableError if the stream ends without one. */
export async function* followReply(
  connection: Connection,
  request: ReplyRequest,
  options: FollowOptions = {},
): AsyncGenerator<ReplyEvent, void> {
  const { conversation } = request
  let reply = 'reply' in request ? request.reply : undefined
  let next = request
  /** All text so far; undefined if the request does not follow the reply from its start. */
  let text = 'after' in request ? undefined : ''
  let isResumed = false
  for (let reconnects = options.maxReconnects ?? 0; ; reconnects--) {
    let cause: unknown
    try {
      for await (const serverEvent of readEvents(connection, next, options)) {
        const event = parseReplyEvent(serverEvent)
        if (!event) continue
        if (event.event === 'message_start') reply = event.data.message_id
        if (reply !== undefined) next = { conversation, reply, after: event.id }
        if (event.event === 'message_delta' && text !== undefined) text += event.data.text
        const missed = isResumed && event.event === 'message_end' ? findMissedText(text, event.data.message.content) : ''
        if (missed !== '') yield { event: 'message_delta', data: { text: missed } }
        yield event
        if (isTerminal(event)) return
      }
    } catch (error) {
      // Before the first event errors are passed on; after it an unreachable service counts as a lost connection.
      if (!(error instanceof ConnectionLostError) && !(error instanceof UnreachableError && next !== request)) throw error
      cause = error instanceof ConnectionLostError ? error.cause : error
    }
    if (reconnects <= 0 || reply === undefined) throw new ConnectionLostError(conversation, cause)
    isResumed = true
    connection.notify('Connection lost; reconnecting.')
    await sleep(RECONNECT_DELAY_MS, undefined, options.signal ? { signal: options.signal } : {})
  }
}

/** Of a reply that ended meanwhile, another daemon sends only the last event. */
const findMissedText = (received: string | undefined, content: string): string =>
  received !== undefined && content.startsWith(received) ? content.slice(received.length) : ''

class ConnectionLostError extends UnreachableError {
  constructor(conversation: string, cause: unknown) {
    super('The connection was lost before the reply was complete.', {
      hint: `To show the stored part: cadre conversations show ${conversation}`,
      cause,
    })
  }
}

async function* readEvents(connection: Connection, request: ReplyRequest, options: FollowOptions): AsyncGenerator<ServerEvent> {
  try {
    yield* openStream(connection, request, options)
  } catch (error) {
    if (options.signal?.aborted || error instanceof CadreError || error instanceof UnreachableError) throw error
    throw new ConnectionLostError(request.conversation, error)
  }
}

function openStream(
  connection: Connection,
  request: ReplyRequest,
  { maxReconnects: _, ...options }: FollowOptions,
): AsyncGenerator<ServerEvent> {
  const { conversation: id } = request
  if (!('reply' in request)) {
    const { message, images = [], retry, replace, wait, model, key } = request
    const body = {
      message,
      ...(images.length === 0 ? {} : { images: images.map(({ type, data }) => ({ type, data })) }),
      stream: true,
      retry,
      replace,
      wait,
      model_id: model,
    }
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    return stream(connection, conversationRoutes.send, { params: { id }, body }, { ...options, headers })
  }
  const headers: Record<string, string> = request.after === undefined ? {} : { 'last-event-id': request.after }
  return stream(connection, conversationRoutes.events, { params: { id, message_id: request.reply } }, { ...options, headers })
}
