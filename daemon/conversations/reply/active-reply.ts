/** A reply that is being written: its draft, its events and its followers. */
import { setMaxListeners } from 'node:events'
import type { CadreError } from '../../../src/contract/errors.ts'
import type { ReplyEvent, ReplyEventName, ReplyEvents } from '../../../src/contract/reply-events.ts'
import { createDeadlineSignal, scaleTimeout } from '../../../src/deadline.ts'
import { raceAbort } from '../../async/abortable.ts'
import { createDeferred } from '../../async/deferred.ts'
import type { StoredMessage } from '../store.ts'
import type { MessageDraft } from './message-draft.ts'
import { createPendingConfirmations, type PendingConfirmations } from './pending-confirmations.ts'
import { ReplyEventLog } from './reply-event-log.ts'

/** How long the HTTP response waits for the first text: until then a failure can still be reported as a status code. */
const FIRST_EVENT_TIMEOUT_MS = 5_000
/** In characters. */
const MAX_REASONING_LENGTH = 100_000

export type ReplyOutcome = { message: StoredMessage; failure?: CadreError }

/** The reply was ended early: its last follower left, or the daemon stops. */
export class ReplyAbortedError extends Error {
  readonly finishReason: 'aborted' | 'interrupted'

  constructor(finishReason: 'aborted' | 'interrupted') {
    super(`The reply was ${finishReason}.`)
    this.finishReason = finishReason
  }
}

interface ReplyMode {
  signal?: AbortSignal
  /** Default: true for a reply without followers. */
  isUnattended?: boolean
}

export class ActiveReply {
  readonly conversationId: string
  readonly messageId: string
  readonly draft: MessageDraft
  readonly events = new ReplyEventLog()
  readonly signal: AbortSignal
  readonly confirmations: PendingConfirmations
  /** Undefined for replies without followers, which are aborted by the given signal only. */
  readonly #controller: AbortController | undefined
  readonly #finish = createDeferred<ReplyOutcome>()
  readonly #firstEvent = createDeferred<void>()
  /** Whether the last client received a pending tool call: the reply goes on without followers until it is answered. */
  #isDetached = false
  /** Number of clients that wait for the complete reply. */
  #waiters = 0
  /** Text that was appended but not sent to followers yet. */
  #unsentText = ''
  #isFlushScheduled = false
  #outcome: ReplyOutcome | undefined

  /** Pass a signal for a reply without followers. Nobody can confirm tool calls of unattended replies. */
  constructor(conversationId: string, messageId: string, draft: MessageDraft, { signal, isUnattended }: ReplyMode = {}) {
    this.conversationId = conversationId
    this.messageId = messageId
    this.draft = draft
    this.#controller = signal ? undefined : new AbortController()
    this.signal = signal ?? (this.#controller as AbortController).signal
    if (!signal) setMaxListeners(0, this.signal) // each running tool adds a listener
    const canAsk = !(isUnattended ?? signal !== undefined)
    this.confirmations = createPendingConfirmations(
      draft,
      this.signal,
      canAsk ? (request) => this.emit('confirmation_required', request) : undefined,
    )
  }

  get outcome(): ReplyOutcome | undefined {
    return this.#outcome
  }

  abort(finishReason: ReplyAbortedError['finishReason']): void {
    this.#controller?.abort(new ReplyAbortedError(finishReason))
  }

  emit<Name extends ReplyEventName>(event: Name, data: ReplyEvents[Name]): void {
    this.#flush()
    this.events.append(event, data)
    if (this.events.length > 1) this.#firstEvent.resolve()
  }

  /** Appends model text. The first text is sent immediately; text of the same event loop turn is sent as one event. */
  appendText(text: string): void {
    const clean = text.replaceAll('\u0000', '\ufffd') // SQLite ends a text there
    const first = this.draft.content === ''
    this.draft.content += clean
    if (!this.#controller && this.events.followerCount === 0) return
    this.#unsentText += clean
    if (first) this.#flush(true)
    else if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true
      setImmediate(() => {
        this.#isFlushScheduled = false
        if (!this.#outcome) this.#flush(true)
      })
    }
  }

  /** Appends what the model writes before its answer. What is over the limit is neither sent nor stored. */
  appendReasoning(text: string): void {
    const clean = text.replaceAll('\u0000', '\ufffd').slice(0, MAX_REASONING_LENGTH - this.draft.reasoning.length)
    if (clean === '') return
    this.draft.reasoning += clean
    if (this.#controller) this.emit('reasoning_delta', { text: clean.toWellFormed() })
  }

  #flush(more = false): void {
    // A split surrogate pair waits for its second half.
    const half = more && /[\ud800-\udbff]$/.test(this.#unsentText)
    const text = half ? this.#unsentText.slice(0, -1) : this.#unsentText
    if (text === '') return
    this.#unsentText = half ? this.#unsentText.slice(-1) : ''
    this.events.append('message_delta', { text: more ? text : text.toWellFormed() })
    this.#firstEvent.resolve()
  }

  /** Sends the last event and ends the reply. */
  finish(outcome: ReplyOutcome): void {
    const { message, failure } = outcome
    if (failure) this.emit('error', createErrorData(failure, message.id))
    else this.emit('message_end', { message })
    this.#outcome = outcome
    this.events.end()
    this.#finish.resolve(outcome)
    this.#firstEvent.resolve()
  }

  /** Yields the events after that id. The reply is aborted when its last follower leaves. */
  follow(after = 0): AsyncIterableIterator<ReplyEvent> {
    this.#isDetached = false
    return this.events.follow(after, () => this.#abortIfUnfollowed())
  }

  /** Waits for the complete reply, or for a tool call that needs confirmation; counts as a follower until the signal aborts. */
  async waitForOutcome(signal: AbortSignal): Promise<ReplyOutcome> {
    this.#waiters++
    this.#isDetached = false
    try {
      const outcome = await raceAbort(Promise.race([this.#finish.promise, this.confirmations.waitForPending()]), signal)
      if (outcome) return outcome
      this.#isDetached = true
      return { message: this.draft.toMessage() }
    } finally {
      this.#waiters--
      this.#abortIfUnfollowed()
    }
  }

  /** A client of another daemon received a pending tool call: the reply goes on without followers until it is answered. */
  detach(): void {
    this.#isDetached = true
  }

  /** Resolves with the first event after message_start, or after a timeout. */
  async waitForFirstEvent(): Promise<void> {
    await raceAbort(this.#firstEvent.promise, createDeadlineSignal(scaleTimeout(FIRST_EVENT_TIMEOUT_MS))).catch(() => undefined)
  }

  #abortIfUnfollowed(): void {
    if (!this.#outcome && !this.#isDetached && this.events.followerCount === 0 && this.#waiters === 0) this.abort('aborted')
  }
}

/** The data of the last event of a failed reply. */
export const createErrorData = ({ code, message, hint }: CadreError, messageId: string): ReplyEvents['error'] => ({
  error: message,
  code,
  message_id: messageId,
  hint,
})
