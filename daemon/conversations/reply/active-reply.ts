/** A reply that is being written: its draft, its events and followers, and pending confirmations. */
import { setMaxListeners } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { CadreError } from '../../../src/contract/errors.ts'
import type { ReplyEvent, ReplyEventName, ReplyEvents } from '../../../src/contract/reply-events.ts'
import { createDeadlineSignal, scaleTimeout } from '../../../src/deadline.ts'
import { raceAbort } from '../../async/abortable.ts'
import { createDeferred } from '../../async/deferred.ts'
import type { StoredMessage } from '../store.ts'
import type { MessageDraft, StoredToolCall } from './message-draft.ts'
import { ReplyEventLog } from './reply-event-log.ts'

/** How long the HTTP response waits for the first text: until then a failure can still be reported as a status code. */
const FIRST_EVENT_TIMEOUT_MS = 5_000
/** In characters. */
const MAX_REASONING_LENGTH = 100_000
const CONFIRMATION_TIMEOUT_MS = 10 * 60 * 1000

/** Unattended replies have nobody who could answer. */
type ConfirmationAnswer = 'allowed' | 'refused' | 'unanswered' | 'unattended'
export type ReplyOutcome = { message: StoredMessage; failure?: CadreError }

/** The reply was ended early: its last follower left, or the daemon stops. */
export class ReplyAbortedError extends Error {
  readonly finishReason: 'aborted' | 'interrupted'

  constructor(finishReason: 'aborted' | 'interrupted') {
    super(`The reply was ${finishReason}.`)
    this.finishReason = finishReason
  }
}

/** What a tool call would do, for the user who confirms it. */
type RequestDescription = Pick<ReplyEvents['confirmation_required'], 'method' | 'url'>
type DescribeRequest = (args: StoredToolCall['arguments']) => RequestDescription

interface Confirmation {
  resolve: (answer: ConfirmationAnswer) => void
  describeRequest: DescribeRequest
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
  /** Undefined for replies without followers, which are aborted by the given signal only. */
  readonly #controller: AbortController | undefined
  readonly #isUnattended: boolean
  readonly #confirmations = new Map<string, Confirmation>()
  readonly #finish = createDeferred<ReplyOutcome>()
  readonly #firstEvent = createDeferred<void>()
  /** Resolves when a tool call waits for confirmation. */
  #pendingConfirmation = createDeferred<void>()
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
    this.#isUnattended = isUnattended ?? signal !== undefined
    this.#controller = signal ? undefined : new AbortController()
    this.signal = signal ?? (this.#controller as AbortController).signal
    if (!signal) setMaxListeners(0, this.signal) // each running tool adds a listener
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
      const outcome = await raceAbort(Promise.race([this.#finish.promise, this.#pendingConfirmation.promise]), signal)
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

  /** Asks the followers whether a tool call may be executed. */
  async requestConfirmation(
    call: StoredToolCall,
    details: Pick<ReplyEvents['confirmation_required'], 'tool_id' | 'reason'>,
    describeRequest: DescribeRequest,
  ): Promise<ConfirmationAnswer> {
    this.signal.throwIfAborted()
    if (this.#isUnattended) {
      call.confirmation = 'refused'
      return 'unattended'
    }
    call.confirmation = 'pending'
    const answer = createDeferred<ConfirmationAnswer>()
    const timer = setTimeout(() => answer.resolve('unanswered'), CONFIRMATION_TIMEOUT_MS)
    this.#confirmations.set(call.id, { resolve: answer.resolve, describeRequest })
    const { id, name, arguments: args } = call
    this.emit('confirmation_required', { id, name, arguments: args, ...details, ...describeRequest(args) })
    this.#pendingConfirmation.resolve()
    try {
      return await raceAbort(answer.promise, this.signal)
    } finally {
      if (call.confirmation === 'pending') call.confirmation = 'refused' // unanswered
      clearTimeout(timer)
      this.#removeConfirmation(call.id)
    }
  }

  #removeConfirmation(callId: string): void {
    if (this.#confirmations.delete(callId) && this.#confirmations.size === 0) this.#pendingConfirmation = createDeferred()
  }

  /** Answers a confirmation, with other arguments if given; repeating the same answer is allowed. */
  answerConfirmation(callId: string, allow: boolean, args?: StoredToolCall['arguments']): StoredToolCall {
    const answer = allow ? 'allowed' : 'refused'
    const call = this.#requireToolCall(callId)
    const confirmation = this.#confirmations.get(callId)
    if (confirmation) {
      call.confirmation = answer
      if (args !== undefined) call.arguments = args
      this.#removeConfirmation(callId)
      confirmation.resolve(answer)
    }
    if (call.confirmation !== answer) throw createAnsweredError(call)
    if (args !== undefined && !isDeepStrictEqual(args, call.arguments))
      throw new CadreError('CONFLICT', 'This tool call was already allowed with other arguments.')
    return { ...call }
  }

  /** Returns a pending call as it would be with other arguments, and the request that it would send. Changes nothing. */
  previewCall(callId: string, args: StoredToolCall['arguments']): StoredToolCall & RequestDescription {
    const call = this.#requireToolCall(callId)
    const confirmation = this.#confirmations.get(callId)
    if (!confirmation) throw createAnsweredError(call)
    return { ...call, arguments: args, ...confirmation.describeRequest(args) }
  }

  #requireToolCall(callId: string): StoredToolCall {
    const call = this.draft.toolCalls.find(({ id }) => id === callId)
    if (!call) throw new CadreError('NOT_FOUND', `There is no tool call "${callId}" in this reply.`)
    return call
  }

  #abortIfUnfollowed(): void {
    if (!this.#outcome && !this.#isDetached && this.events.followerCount === 0 && this.#waiters === 0) this.abort('aborted')
  }
}

const createAnsweredError = ({ confirmation }: StoredToolCall) =>
  new CadreError(
    'CONFLICT',
    confirmation === undefined ? 'This tool call does not require confirmation.' : `This tool call was already ${confirmation}.`,
  )

/** The data of the last event of a failed reply. */
export const createErrorData = ({ code, message, hint }: CadreError, messageId: string): ReplyEvents['error'] => ({
  error: message,
  code,
  message_id: messageId,
  hint,
})
