/** One request to a provider and the bytes of its answer: over our own connections, each wait with its limit. */
import type { Dispatcher } from 'undici'
import { ResponseReader } from '../../outbound/response-reader.ts'
import {
  createIncompleteError,
  createNetworkError,
  createStatusError,
  createTimeoutError,
  createTooLargeError,
  type FailedModel,
  ProviderError,
} from '../../providers/provider-error.ts'

export interface ProviderTimeouts {
  connectMs: number
  /** From the request to the first byte of the answer's text. */
  firstByteMs: number
  /** Between two bytes. */
  idleMs: number
  /** For everything, tries and pauses included: a byte a second is no answer. */
  totalMs: number
  /** Before the second try; twice as long before the third. */
  retryDelayMs: number
  /** A provider that asks for more patience is not waited for. */
  maxRetryDelayMs: number
}

export const DEFAULT_TIMEOUTS: ProviderTimeouts = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  idleMs: 60_000,
  totalMs: 600_000,
  retryDelayMs: 500,
  maxRetryDelayMs: 20_000,
}

/** No reply of a model comes near it. */
const MOST_BYTES = 64 * 1024 * 1024
const MOST_ERROR_BYTES = 64 * 1024
const BEGINNING_BYTES = 1_000
/** What a server has for closing an answer that is complete. */
const PARTING_MS = 1_000
/** How keys travel. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key']

export interface ExchangeOptions {
  dispatcher: Dispatcher
  model: FailedModel
  timeouts: ProviderTimeouts
  /** When all of it has to be over, as performance.now() tells it. */
  deadline: number
  signal: AbortSignal | undefined
}

export interface ProviderResponse {
  type: string | undefined
  bytes: AsyncGenerator<Buffer>
}

/** Why a request is ended that nobody needs any more; made once, since an error costs more than all the rest of ending. */
const OVER = new Error('The exchange is over.')

export class HttpExchange {
  /** Why it failed, in our words: the library wraps what a fetch throws, so it is kept here. */
  failure: ProviderError | undefined
  readonly #options: ExchangeOptions
  readonly #incoming = new ResponseReader()
  readonly #abort: () => void
  #whole: NodeJS.Timeout
  #ending: AbortController | undefined
  #wait: { what: string; timer: NodeJS.Timeout } | undefined
  #host = ''
  #first: Buffer | undefined
  #last: Buffer | undefined

  constructor(options: ExchangeOptions) {
    this.#options = options
    const { signal, deadline, timeouts: times } = options
    this.#abort = () => this.#stop(signal?.reason)
    signal?.addEventListener('abort', this.#abort, { once: true })
    this.#whole = setTimeout(() => this.#late('had not finished after', times.totalMs), Math.max(0, deadline - performance.now()))
  }

  /** Aborts when there is no use in going on, whoever decided so. Only the library asks for it. */
  get signal(): AbortSignal {
    this.#ending ??= new AbortController()
    return this.#ending.signal
  }

  /** What the answer began with, for whoever could not make sense of it. */
  get preview(): string {
    return this.#first?.subarray(0, BEGINNING_BYTES).toString() ?? ''
  }

  /** Whether the answer says of itself that it is over. */
  get isComplete(): boolean {
    return this.#last !== undefined && saysDone(this.#last)
  }

  /** Ends the request if it still runs. To be called in any case: timers run until then. */
  close(): void {
    clearTimeout(this.#whole)
    this.#disarm()
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#stop(OVER)
  }

  /** What the library takes for `fetch`. */
  readonly fetch: typeof globalThis.fetch = async (address, init) => {
    const headers = { ...(init?.headers as Record<string, string>) }
    // The packages want some key.
    if (this.#options.model.api_key === null)
      for (const name of Object.keys(headers)) if (KEY_HEADERS.includes(name.toLowerCase())) delete headers[name]
    const { type, bytes } = await this.post(new URL(String(address)), headers, init?.body as string)
    return new Response(ReadableStream.from(bytes), { status: 200, headers: type === undefined ? {} : { 'content-type': type } })
  }

  /** Sends it; where it is refused, throws. */
  async post(url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<ProviderResponse> {
    const { dispatcher, model, timeouts: times } = this.#options
    this.#host = url.host
    this.#arm('sent nothing for', times.firstByteMs)
    try {
      // The waits have timers of their own, which are exact.
      const waits = { headersTimeout: 0, bodyTimeout: 0 }
      dispatcher.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'POST', headers, body, ...waits }, this.#incoming)
      const head = await this.#incoming.head
      // Redirects are refusals too: the next server would get the key.
      if (head.status < 200 || head.status >= 300) {
        const text = await this.#refusal()
        this.failure = createStatusError(model, url.host, { ...head, text })
        throw this.failure
      }
      return { type: [head.headers['content-type']].flat()[0], bytes: this.#bytes() }
    } catch (error) {
      throw this.#failed(error)
    }
  }

  /** The bytes as somebody asks for them: time that nobody waits does not count. */
  async *#bytes(): AsyncGenerator<Buffer> {
    try {
      for (let length = 0; ; ) {
        if (this.#first !== undefined) this.#arm('sent nothing more for', this.#options.timeouts.idleMs)
        const part = await this.#incoming.next()
        this.#disarm()
        if (part === undefined) return
        this.#first ??= part
        this.#last = part
        length += part.length
        if (length > MOST_BYTES) throw createTooLargeError(this.#options.model, MOST_BYTES)
        yield part
      }
    } catch (error) {
      // A socket that breaks under an answer is not one that could not be reached.
      if (this.#first !== undefined && !(error instanceof ProviderError))
        this.failure ??= createIncompleteError(this.#options.model, '', true)
      throw this.#failed(error)
    } finally {
      this.#incoming.abort(OVER)
    }
  }

  /** For an answer that has said it is over: it may still be closed in good order, so that its connection can be used again. Not all servers do. */
  async drain(): Promise<void> {
    this.#disarm()
    clearTimeout(this.#whole)
    this.#whole = setTimeout(() => this.#incoming.abort(OVER), PARTING_MS)
    try {
      while ((await this.#incoming.next()) !== undefined);
    } catch {
      // nothing is missing
    }
  }

  /** What is said with a refusal, as far as it comes: the status alone says enough. */
  async #refusal(): Promise<string> {
    const parts: Buffer[] = []
    try {
      let length = 0
      for (let part = await this.#incoming.next(); part !== undefined && length < MOST_ERROR_BYTES; part = await this.#incoming.next()) {
        parts.push(part)
        length += part.length
      }
    } catch {
      // cut off, or too slow
    }
    this.#incoming.abort(OVER)
    return Buffer.concat(parts).toString()
  }

  #stop(reason: unknown): void {
    this.#incoming.abort(reason)
    this.#ending?.abort(reason)
  }

  #arm(what: string, ms: number): void {
    if (this.#wait?.what === what) {
      this.#wait.timer.refresh()
      return
    }
    this.#disarm()
    this.#wait = { what, timer: setTimeout(() => this.#late(what, ms), ms) }
  }

  #disarm(): void {
    clearTimeout(this.#wait?.timer)
    this.#wait = undefined
  }

  #late(what: string, ms: number): void {
    this.failure ??= createTimeoutError(this.#options.model, this.#host, what, ms)
    this.#stop(this.failure)
  }

  #failed(error: unknown): ProviderError {
    this.#disarm()
    this.failure ??= createNetworkError(this.#options.model, this.#host, error)
    return this.failure
  }
}

const DONE = Buffer.from('[DONE]')
const saysDone = (part: Buffer): boolean => part.includes(DONE, Math.max(0, part.length - 64))
