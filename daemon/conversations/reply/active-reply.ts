/** A reply under way: what it says so far, who follows it, what it waits for, and the way to end it. */
import { setMaxListeners } from 'node:events'
import { CadreError } from '../../../src/contract/errors.ts'
import type { ReplyEvent, ReplyEventName, ReplyEvents } from '../../../src/contract/reply-events.ts'
import type { StoredMessage } from '../store.ts'
import type { MessageDraft, StoredToolCall } from './message-draft.ts'
import { ReplyEventLog } from './reply-event-log.ts'

/** How long an answer waits for its first word before it begins without one: until then a failure can still be a status. */
const FIRST_EVENT_TIMEOUT_MS = 5_000
/** How long a tool waits to be allowed. */
const CONFIRMATION_TIMEOUT_MS = 10 * 60 * 1000

export type ConfirmationAnswer = 'allowed' | 'refused' | 'unanswered'
export type ReplyOutcome = { message: StoredMessage; failure?: CadreError }

/** Why a reply was ended before it was finished: nobody follows it any more, or the daemon stops. */
export class ReplyAbortedError extends Error {
  readonly finishReason: 'aborted' | 'interrupted'

  constructor(as: 'aborted' | 'interrupted') {
    super(`The reply was ${as}.`)
    this.finishReason = as
  }
}

export class ActiveReply {
  readonly conversationId: string
  readonly messageId: string
  readonly draft: MessageDraft
  readonly events = new ReplyEventLog()
  /** Aborts when there is no use in going on. */
  readonly signal: AbortSignal
  /** Missing where somebody else ends it, and nobody is there who could be asked. */
  readonly #controller: AbortController | undefined
  readonly #confirmations = new Map<string, (answerConfirmation: ConfirmationAnswer) => void>()
  readonly #finish = createDeferred<ReplyOutcome>()
  readonly #firstEvent = createDeferred<void>()
  /** Those who wait for the whole of it. */
  #waiters = 0
  /** Text that is written and not yet said. */
  #unsentText = ''
  #isFlushScheduled = false
  #outcome: ReplyOutcome | undefined

  /** With a signal it is unattended: that alone ends it. */
  constructor(conversationId: string, messageId: string, draft: MessageDraft, signal?: AbortSignal) {
    this.conversationId = conversationId
    this.messageId = messageId
    this.draft = draft
    this.#controller = signal ? undefined : new AbortController()
    this.signal = signal ?? (this.#controller as AbortController).signal
    if (!signal) setMaxListeners(0, this.signal) // each tool that runs listens
  }

  get outcome(): ReplyOutcome | undefined {
    return this.#outcome
  }

  abort(as: ReplyAbortedError['finishReason']): void {
    this.#controller?.abort(new ReplyAbortedError(as))
  }

  emit<Name extends ReplyEventName>(event: Name, data: ReplyEvents[Name]): void {
    this.#flush()
    this.events.append(event, data)
    if (this.events.length > 1) this.#firstEvent.resolve()
  }

  /** Text of the model. The first goes out at once; what comes in one go after it goes out as one. */
  appendText(text: string): void {
    const clean = text.replaceAll('\u0000', '\ufffd') // the database ends a text there
    const first = this.draft.content === ''
    this.draft.content += clean
    if (!this.#controller) return // nobody follows it
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

  #flush(more = false): void {
    // Half a character waits for its other half.
    const half = more && /[\ud800-\udbff]$/.test(this.#unsentText)
    const text = half ? this.#unsentText.slice(0, -1) : this.#unsentText
    if (text === '') return
    this.#unsentText = half ? this.#unsentText.slice(-1) : ''
    this.events.append('message_delta', { text: more ? text : text.toWellFormed() })
    this.#firstEvent.resolve()
  }

  /** The last event and the end. */
  finish(outcome: ReplyOutcome): void {
    const { message, failure } = outcome
    if (failure)
      this.emit('error', {
        error: failure.message,
        code: failure.code,
        message_id: message.id,
        ...(failure.hint ? { hint: failure.hint } : {}),
      })
    else this.emit('message_end', { message })
    this.#outcome = outcome
    this.events.end()
    this.#finish.resolve(outcome)
    this.#firstEvent.resolve()
  }

  /** Events after the one of that id, and those that come. Whoever follows last and goes takes the reply along. */
  follow(after = 0): AsyncIterableIterator<ReplyEvent> {
    return this.events.follow(after, () => this.#abortIfUnfollowed())
  }

  /** Waits for the whole reply, as long as the signal lasts. */
  async waitForOutcome(signal: AbortSignal): Promise<ReplyOutcome> {
    this.#waiters++
    const gone = createDeferred<never>()
    const leave = () => gone.reject(signal.reason)
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    try {
      return await Promise.race([this.#finish.promise, gone.promise])
    } finally {
      signal.removeEventListener('abort', leave)
      this.#waiters--
      this.#abortIfUnfollowed()
    }
  }

  /** Settles once it has said more than that it began, or was silent for long. */
  async waitForFirstEvent(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FIRST_EVENT_TIMEOUT_MS)
    })
    await Promise.race([this.#firstEvent.promise, enough]).finally(() => clearTimeout(timer))
  }

  /** Asks whoever follows whether a tool may be used. */
  async requestConfirmation(call: StoredToolCall): Promise<ConfirmationAnswer> {
    this.signal.throwIfAborted()
    if (!this.#controller) {
      call.confirmation = 'refused'
      return 'unanswered'
    }
    call.confirmation = 'pending'
    const answered = createDeferred<ConfirmationAnswer>()
    const aborted = () => answered.reject(this.signal.reason)
    const timer = setTimeout(() => answered.resolve('unanswered'), CONFIRMATION_TIMEOUT_MS)
    this.signal.addEventListener('abort', aborted)
    this.#confirmations.set(call.id, answered.resolve)
    this.emit('confirmation_required', { id: call.id, name: call.name, arguments: call.arguments })
    try {
      return await answered.promise
    } finally {
      if (call.confirmation === 'pending') call.confirmation = 'refused' // nobody answered, and nothing waits any more
      clearTimeout(timer)
      this.signal.removeEventListener('abort', aborted)
      this.#confirmations.delete(call.id)
    }
  }

  /** The answer to that question; said twice alike, it is still the same. */
  answer(callId: string, allow: boolean): StoredToolCall {
    const wanted = allow ? 'allowed' : 'refused'
    const call = this.draft.toolCalls.find(({ id }) => id === callId)
    if (!call) throw new CadreError('NOT_FOUND', `There is no tool call "${callId}" in this reply.`)
    const waiting = this.#confirmations.get(callId)
    if (waiting) {
      call.confirmation = wanted
      this.#confirmations.delete(callId)
      waiting(wanted)
    }
    if (call.confirmation === wanted) return { ...call }
    throw new CadreError(
      'CONFLICT',
      call.confirmation === undefined ? 'This tool call asks for nothing.' : `This tool call was ${call.confirmation} already.`,
    )
  }

  #abortIfUnfollowed(): void {
    if (!this.#outcome && this.events.followers === 0 && this.#waiters === 0) this.abort('aborted')
  }
}

interface Deferred<T> {
  promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

function createDeferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, 'resolve' | 'reject'> | undefined
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  promise.catch(() => undefined) // whoever waits hears of it; nobody has to wait
  return { promise, ...(settle as Pick<Deferred<T>, 'resolve' | 'reject'>) }
}
