/** A reply under way: what it says so far, who follows it, what it waits for, and the way to end it. */
import { setMaxListeners } from 'node:events'
import { CadreError } from '../../../src/contract/errors.ts'
import type { ReplyEvent, ReplyEventName, ReplyEvents } from '../../../src/contract/reply-events.ts'
import type { StoredMessage } from '../store.ts'
import type { Draft, StoredToolCall } from './message-draft.ts'
import { EventLog } from './reply-events.ts'

/** How long an answer waits for its first word before it begins without one: until then a failure can still be a status. */
const FIRST_WORD_MS = 5_000
/** How long a tool waits to be allowed. */
const CONFIRMATION_MS = 10 * 60 * 1000

export type Answer = 'allowed' | 'refused' | 'unanswered'
export type Outcome = { message: StoredMessage; failure?: CadreError }

/** Why a reply was ended before it was finished: nobody follows it any more, or the daemon stops. */
export class Ended extends Error {
  readonly as: 'aborted' | 'interrupted'

  constructor(as: 'aborted' | 'interrupted') {
    super(`The reply was ${as}.`)
    this.as = as
  }
}

export class Reply {
  readonly conversationId: string
  readonly messageId: string
  readonly draft: Draft
  readonly log = new EventLog()
  /** Aborts when there is no use in going on. */
  readonly signal: AbortSignal
  /** Missing where somebody else ends it, and nobody is there who could be asked. */
  readonly #controller: AbortController | undefined
  readonly #waiting = new Map<string, (answer: Answer) => void>()
  readonly #finished = deferred<Outcome>()
  readonly #spoken = deferred<void>()
  /** Those who wait for the whole of it. */
  #waiters = 0
  /** Text that is written and not yet said. */
  #unsaid = ''
  #flushing = false
  #outcome: Outcome | undefined

  /** With a signal it is unattended: that alone ends it. */
  constructor(conversationId: string, messageId: string, draft: Draft, signal?: AbortSignal) {
    this.conversationId = conversationId
    this.messageId = messageId
    this.draft = draft
    this.#controller = signal ? undefined : new AbortController()
    this.signal = signal ?? (this.#controller as AbortController).signal
    if (!signal) setMaxListeners(0, this.signal) // each tool that runs listens
  }

  get outcome(): Outcome | undefined {
    return this.#outcome
  }

  end(as: Ended['as']): void {
    this.#controller?.abort(new Ended(as))
  }

  say<Name extends ReplyEventName>(event: Name, data: ReplyEvents[Name]): void {
    this.#flush()
    this.log.append(event, data)
    if (this.log.length > 1) this.#spoken.resolve()
  }

  /** Text of the model. The first goes out at once; what comes in one go after it goes out as one. */
  write(text: string): void {
    const clean = text.replaceAll('\u0000', '\ufffd') // the database ends a text there
    const first = this.draft.content === ''
    this.draft.content += clean
    if (!this.#controller) return // nobody follows it
    this.#unsaid += clean
    if (first) this.#flush(true)
    else if (!this.#flushing) {
      this.#flushing = true
      setImmediate(() => {
        this.#flushing = false
        if (!this.#outcome) this.#flush(true)
      })
    }
  }

  #flush(more = false): void {
    // Half a character waits for its other half.
    const half = more && /[\ud800-\udbff]$/.test(this.#unsaid)
    const text = half ? this.#unsaid.slice(0, -1) : this.#unsaid
    if (text === '') return
    this.#unsaid = half ? this.#unsaid.slice(-1) : ''
    this.log.append('message_delta', { text: more ? text : text.toWellFormed() })
    this.#spoken.resolve()
  }

  /** The last event and the end. */
  finish(outcome: Outcome): void {
    const { message, failure } = outcome
    if (failure)
      this.say('error', {
        error: failure.message,
        code: failure.code,
        message_id: message.id,
        ...(failure.hint ? { hint: failure.hint } : {}),
      })
    else this.say('message_end', { message })
    this.#outcome = outcome
    this.log.end()
    this.#finished.resolve(outcome)
    this.#spoken.resolve()
  }

  /** Events after the one of that id, and those that come. Whoever follows last and goes takes the reply along. */
  follow(after = 0): AsyncIterableIterator<ReplyEvent> {
    return this.log.follow(after, () => this.#left())
  }

  /** Waits for the whole reply, as long as the signal lasts. */
  async whole(signal: AbortSignal): Promise<Outcome> {
    this.#waiters++
    const gone = deferred<never>()
    const leave = () => gone.reject(signal.reason)
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    try {
      return await Promise.race([this.#finished.promise, gone.promise])
    } finally {
      signal.removeEventListener('abort', leave)
      this.#waiters--
      this.#left()
    }
  }

  /** Settles once it has said more than that it began, or was silent for long. */
  async begun(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FIRST_WORD_MS)
    })
    await Promise.race([this.#spoken.promise, enough]).finally(() => clearTimeout(timer))
  }

  /** Asks whoever follows whether a tool may be used. */
  async confirmation(call: StoredToolCall): Promise<Answer> {
    this.signal.throwIfAborted()
    if (!this.#controller) {
      call.confirmation = 'refused'
      return 'unanswered'
    }
    call.confirmation = 'pending'
    const answered = deferred<Answer>()
    const aborted = () => answered.reject(this.signal.reason)
    const timer = setTimeout(() => answered.resolve('unanswered'), CONFIRMATION_MS)
    this.signal.addEventListener('abort', aborted)
    this.#waiting.set(call.id, answered.resolve)
    this.say('confirmation_required', { id: call.id, name: call.name, arguments: call.arguments })
    try {
      return await answered.promise
    } finally {
      if (call.confirmation === 'pending') call.confirmation = 'refused' // nobody answered, and nothing waits any more
      clearTimeout(timer)
      this.signal.removeEventListener('abort', aborted)
      this.#waiting.delete(call.id)
    }
  }

  /** The answer to that question; said twice alike, it is still the same. */
  answer(callId: string, allow: boolean): StoredToolCall {
    const wanted = allow ? 'allowed' : 'refused'
    const call = this.draft.toolCalls.find(({ id }) => id === callId)
    if (!call) throw new CadreError('NOT_FOUND', `There is no tool call "${callId}" in this reply.`)
    const waiting = this.#waiting.get(callId)
    if (waiting) {
      call.confirmation = wanted
      this.#waiting.delete(callId)
      waiting(wanted)
    }
    if (call.confirmation === wanted) return { ...call }
    throw new CadreError(
      'CONFLICT',
      call.confirmation === undefined ? 'This tool call asks for nothing.' : `This tool call was ${call.confirmation} already.`,
    )
  }

  #left(): void {
    if (!this.#outcome && this.log.followers === 0 && this.#waiters === 0) this.end('aborted')
  }
}

interface Deferred<T> {
  promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

function deferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, 'resolve' | 'reject'> | undefined
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  promise.catch(() => undefined) // whoever waits hears of it; nobody has to wait
  return { promise, ...(settle as Pick<Deferred<T>, 'resolve' | 'reject'>) }
}
