/** One HTTP request to a provider and the bytes of its response, with a timeout for each phase. */
import type { Dispatcher } from 'undici'
import { type Deadline, startDeadline } from '../../../src/deadline.ts'
import { ResponseReader } from '../../outbound/response-reader.ts'
import { EventScanner } from './event-scanner.ts'
import {
  createIncompleteError,
  createNetworkError,
  createStatusError,
  createTimeoutError,
  createTooLargeError,
  ProviderError,
} from './provider-error.ts'
import type { RemoteModel } from './remote-model.ts'

export interface ProviderTimeouts {
  connectMs: number
  /** From the request to the first byte of the body. */
  firstByteMs: number
  /** Between two bytes. */
  idleMs: number
  /** For all attempts and delays together. */
  totalMs: number
  /** Before the first retry; twice as long before the second. */
  retryDelayMs: number
  /** A provider that asks for a longer delay is not retried. */
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

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024
/** Also of a response that is not a stream. Longer than the events of any provider: each has a few tokens. */
const MAX_EVENT_BYTES = 4 * 1024 * 1024
const MAX_ERROR_BYTES = 64 * 1024
const PREVIEW_BYTES = 1_000
/** How long a server may take to close a complete response. */
const CLOSE_TIMEOUT_MS = 1_000
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key']

export interface ExchangeOptions {
  dispatcher: Dispatcher
  model: RemoteModel
  timeouts: ProviderTimeouts
  /** Aborts after the time for all attempts. */
  total: AbortSignal
  signal: AbortSignal | undefined
  /** Returns the headers that continue the current trace. */
  getTraceHeaders(): Readonly<Record<string, string>>
}

interface ProviderResponse {
  type: string | undefined
  bytes: AsyncGenerator<Buffer>
}

/** Created once, because creating an error is expensive. */
const EXCHANGE_CLOSED = new Error('The exchange is closed.')

export class HttpExchange {
  /** Stored here, because the AI SDK wraps the errors that fetch throws. */
  failure: ProviderError | undefined
  readonly #options: ExchangeOptions
  readonly #response = new ResponseReader()
  readonly #scanner = new EventScanner()
  readonly #onAbort: () => void
  readonly #onTotal = () => this.#timeOut('did not finish within', this.#options.timeouts.totalMs)
  #closing: Deadline | undefined
  #abortController: AbortController | undefined
  #phase: { problem: string; deadline: Deadline } | undefined
  #host = ''
  #firstChunk: Buffer | undefined

  constructor(options: ExchangeOptions) {
    this.#options = options
    const { signal, total } = options
    this.#onAbort = () => this.#abort(signal?.reason)
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    total.addEventListener('abort', this.#onTotal, { once: true })
  }

  get model(): RemoteModel {
    return this.#options.model
  }

  /** Aborts when the exchange fails or is closed. Only the AI SDK uses it. */
  get signal(): AbortSignal {
    this.#abortController ??= new AbortController()
    return this.#abortController.signal
  }

  /** Whether the `[DONE]` event was received. */
  get isComplete(): boolean {
    return this.#scanner.isDone
  }

  /** For a response that ends too early or is not a model's reply. */
  createIncompleteError(hasContent: boolean): ProviderError {
    const preview = this.#firstChunk?.subarray(0, PREVIEW_BYTES).toString() ?? ''
    return this.failure ?? createIncompleteError(this.model, preview, hasContent)
  }

  /** Aborts the request if it is still running. Must always be called, because it clears the timers. */
  close(): void {
    this.#closing?.cancel()
    this.#endPhase()
    this.#options.total.removeEventListener('abort', this.#onTotal)
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    this.#abort(EXCHANGE_CLOSED)
  }

  /** The `fetch` function for the AI SDK. */
  readonly fetch: typeof globalThis.fetch = async (address, init) => {
    const headers = { ...(init?.headers as Record<string, string>) }
    // The packages require a key, so models without one get a placeholder.
    if (this.#options.model.api_key === null)
      for (const name of Object.keys(headers)) if (KEY_HEADERS.includes(name.toLowerCase())) delete headers[name]
    const { type, bytes } = await this.post(new URL(String(address)), headers, init?.body as string)
    return new Response(ReadableStream.from(bytes), { status: 200, headers: type === undefined ? {} : { 'content-type': type } })
  }

  /** Throws if the response has an error status. */
  async post(url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<ProviderResponse> {
    const { dispatcher, model, timeouts, getTraceHeaders } = this.#options
    this.#host = url.host
    this.#startPhase('did not respond within', timeouts.firstByteMs)
    try {
      // Off, because the timers here are more precise.
      const undiciTimeouts = { headersTimeout: 0, bodyTimeout: 0 }
      const path = url.pathname + url.search
      const allHeaders = { ...getTraceHeaders(), ...headers }
      dispatcher.dispatch({ origin: url.origin, path, method: 'POST', headers: allHeaders, body, ...undiciTimeouts }, this.#response)
      const head = await this.#response.head
      // Redirects are errors too, because following them would forward the key.
      if (head.status < 200 || head.status >= 300) {
        const text = await this.#readErrorBody()
        this.failure = createStatusError(model, url.host, { ...head, text })
        throw this.failure
      }
      return { type: [head.headers['content-type']].flat()[0], bytes: this.#readBytes() }
    } catch (error) {
      throw this.#fail(error)
    }
  }

  /** The idle timer runs only while the caller waits for bytes. What follows `[DONE]` is ignored. */
  async *#readBytes(): AsyncGenerator<Buffer> {
    const { model, timeouts } = this.#options
    try {
      for (let length = 0; ; ) {
        if (this.#firstChunk !== undefined) this.#startPhase('sent no data for', timeouts.idleMs)
        const chunk = await this.#response.next()
        this.#endPhase()
        if (chunk === undefined) return
        this.#firstChunk ??= chunk
        length += chunk.length
        if (length > MAX_RESPONSE_BYTES) throw createTooLargeError(model, 'a response', MAX_RESPONSE_BYTES)
        const bytes = this.#scanner.scan(chunk)
        if (this.#scanner.eventBytes > MAX_EVENT_BYTES) throw createTooLargeError(model, 'an event', MAX_EVENT_BYTES)
        yield bytes
        if (this.#scanner.isDone) return await this.drain()
      }
    } catch (error) {
      // A connection that breaks after the first byte is not a connection error.
      if (this.#firstChunk !== undefined && !(error instanceof ProviderError)) this.failure ??= createIncompleteError(model, '', true)
      throw this.#fail(error)
    } finally {
      this.#response.abort(EXCHANGE_CLOSED)
    }
  }

  /** Waits briefly for the server to close a complete response, so that the connection can be reused. */
  async drain(): Promise<void> {
    this.#endPhase()
    this.#options.total.removeEventListener('abort', this.#onTotal)
    this.#closing ??= startDeadline(CLOSE_TIMEOUT_MS, () => this.#response.abort(EXCHANGE_CLOSED))
    try {
      while ((await this.#response.next()) !== undefined);
    } catch {
      // The response is complete already.
    }
  }

  async #readErrorBody(): Promise<string> {
    const chunks: Buffer[] = []
    try {
      let length = 0
      for (let chunk = await this.#response.next(); chunk !== undefined && length < MAX_ERROR_BYTES; chunk = await this.#response.next()) {
        chunks.push(chunk)
        length += chunk.length
      }
    } catch {
      // Incomplete or too slow: the status is enough.
    }
    this.#response.abort(EXCHANGE_CLOSED)
    return Buffer.concat(chunks).toString()
  }

  #abort(reason: unknown): void {
    this.#response.abort(reason)
    this.#abortController?.abort(reason)
  }

  #startPhase(problem: string, ms: number): void {
    if (this.#phase?.problem === problem) {
      this.#phase.deadline.restart()
      return
    }
    this.#endPhase()
    this.#phase = { problem, deadline: startDeadline(ms, () => this.#timeOut(problem, ms)) }
  }

  #endPhase(): void {
    this.#phase?.deadline.cancel()
    this.#phase = undefined
  }

  #timeOut(problem: string, ms: number): void {
    this.failure ??= createTimeoutError(this.#options.model, this.#host, problem, ms)
    this.#abort(this.failure)
  }

  #fail(error: unknown): ProviderError {
    this.#endPhase()
    this.failure ??= createNetworkError(this.#options.model, this.#host, error)
    return this.failure
  }
}
