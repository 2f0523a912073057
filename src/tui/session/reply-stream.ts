/** The talk with the service: sends a message, follows its reply through cuts and restarts, stops it, answers what it asks. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { UsageError } from '../../cli/terminal/errors.ts'
import { rewriteCommands } from '../../cli/terminal/invocation.ts'
import { call } from '../../client/call.ts'
import { UnreachableError } from '../../client/errors.ts'
import { followReply, type ReplyRequest } from '../../client/follow-reply.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import type { Transcript, TranscriptAction } from '../state/transcript-reducer.ts'
import type { ReconnectingClient } from './reconnecting-client.ts'

export interface ReplyStreamDependencies {
  client: ReconnectingClient
  dispatch: (happening: TranscriptAction) => void
  getTranscript: () => Transcript
  /** The conversation that is talked in; made when there is none yet. */
  ensureConversation: (connection: Connection) => Promise<string>
  /** The model to answer with, where it is another one than the agent's. */
  getModel: () => string | undefined
  now: () => number
}

/** A message, under a key with which it is sent once, however often it is tried. */
interface OutgoingMessage {
  message: string
  key: string
}

const RECONNECT_DELAY_MS = 250
/** After a stop the service stores what came; then its facts are asked for. */
const STORE_DELAY_MS = 300

export class ReplyStream {
  readonly #dependencies: ReplyStreamDependencies
  #abort: AbortController | undefined
  /** Where the last reply was asked for. */
  #conversation: string | undefined
  /** Resolves when no reply is under way any more. */
  done: Promise<void> = Promise.resolve()

  constructor(parts: ReplyStreamDependencies) {
    this.#dependencies = parts
  }

  /** Sends, and resolves when the reply has ended in one way or another. Nothing is thrown: how it ended is in the transcript. */
  send(message: string): Promise<void> {
    this.done = this.#run({ message, key: randomUUID() })
    return this.done
  }

  /** Follows a reply that is being written already. */
  join(reply: string): void {
    this.#dependencies.dispatch({ kind: 'joined', reply })
    this.done = this.#run(undefined)
  }

  async #run(sent: OutgoingMessage | undefined): Promise<void> {
    const { dispatch: happen, client: link, getTranscript: transcript } = this.#dependencies
    const stopping = new AbortController()
    this.#abort = stopping
    try {
      while (!(await this.#follow(sent, stopping.signal))) {
        link.markLost('The connection to the daemon was cut.')
        await pause(RECONNECT_DELAY_MS, undefined, { signal: stopping.signal })
      }
    } catch (error) {
      if (stopping.signal.aborted) {
        happen({ kind: 'ended', status: 'aborted' })
        void this.#refreshStoppedReply()
      } else happen({ kind: 'ended', status: 'failed', ...describeError(error) })
    } finally {
      if (this.#abort === stopping) this.#abort = undefined
    }
    // A stream that ended in good order without an end is none.
    if (transcript().isAwaitingReply) happen({ kind: 'ended', status: 'interrupted' })
  }

  /** Whether the reply came to its end; false when the connection did first. */
  async #follow(sent: OutgoingMessage | undefined, signal: AbortSignal): Promise<boolean> {
    const { client: link, dispatch: happen, ensureConversation: conversation, now } = this.#dependencies
    try {
      const connection = await link.waitForConnection(signal)
      this.#conversation = await conversation(connection)
      const followed = this.#buildRequest(this.#conversation, sent)
      if (!followed) return true
      for await (const event of followReply(connection, followed, { signal })) {
        link.markReachable()
        happen({ kind: 'event', event, at: now() })
      }
      return true
    } catch (error) {
      if (signal.aborted || !(error instanceof UnreachableError)) throw error
      return false
    }
  }

  /** The reply where it is known, from the event on that was not seen; else the message. */
  #buildRequest(conversation: string, sent: OutgoingMessage | undefined): ReplyRequest | undefined {
    const { live } = this.#dependencies.getTranscript()
    if (live?.id !== undefined)
      return { conversation, reply: live.id, ...(live.lastEventId === undefined ? {} : { after: live.lastEventId }) }
    const model = this.#dependencies.getModel()
    return sent && { conversation, ...sent, wait: true, ...(model === undefined ? {} : { model }) }
  }

  /** Stops the reply: the service ends it when nobody follows it any more. False when none is under way. */
  stop(): boolean {
    const stopping = this.#abort
    if (!stopping || stopping.signal.aborted) return false
    stopping.abort()
    return true
  }

  /** What a stopped reply took, once it is stored. It is only for the status line, so it may fail. */
  async #refreshStoppedReply(): Promise<void> {
    const { client: link, dispatch: happen, getTranscript: transcript } = this.#dependencies
    const reply = transcript().entries.findLast((entry) => entry.kind === 'reply')
    // Another conversation may have begun by the time it is stored.
    const id = this.#conversation
    if (reply?.id === undefined || id === undefined) return
    try {
      await pause(STORE_DELAY_MS)
      const connection = await link.getConnection()
      const { data } = await call(connection, conversationRoutes.messages, { params: { id }, query: { limit: 2, order: 'desc' } })
      const message = data.find((each) => each.id === reply.id && each.finish_reason !== undefined)
      const { entries, isAwaitingReply: awaiting } = transcript()
      if (message && !awaiting && entries.some((entry) => entry.kind === 'reply' && entry.id === reply.id))
        happen({ kind: 'event', at: 0, event: { event: 'message_end', data: { message: { ...message, finish_reason: 'aborted' } } } })
    } catch {
      // the next reply brings the figures up to date
    }
  }

  /** Allows or refuses a call that waits. */
  async confirm(tool: string, allow: boolean): Promise<void> {
    const { client: link, dispatch: happen, getTranscript: transcript, now } = this.#dependencies
    const message_id = transcript().live?.id
    happen({ kind: 'answered', tool, allow, at: now() })
    if (message_id === undefined) return
    try {
      const connection = await link.getConnection()
      const id = await this.#dependencies.ensureConversation(connection)
      await call(connection, conversationRoutes.confirm, { params: { id, message_id }, body: { tool_call_id: tool, allow } })
    } catch (error) {
      happen({ kind: 'noted', tone: 'bad', text: `The answer did not reach the service: ${describeError(error).error}` })
    }
  }
}

/** An error as the transcript tells it. */
export function describeError(error: unknown): { error: string; hint?: string } {
  const hint = error instanceof CadreError || error instanceof UnreachableError ? error.hint : undefined
  const which = error instanceof UsageError ? (error.details ?? []).map(({ field, problem }) => `\n  ${field}: ${problem}`).join('') : ''
  return {
    error: `${error instanceof Error ? error.message : String(error)}${which}`,
    ...(hint === undefined ? {} : { hint: rewriteCommands(hint) }),
  }
}
