/** One request to a provider and the bytes of its answer: over our own connections, each wait with its limit. */
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Breather } from '../breather.ts'
import { cutOff, type Failing, late, ProviderFailure, refused, tooLong, unreachable } from './provider-failure.ts'

export interface ProviderTimes {
  connectMs: number
  /** From the request to the first byte of the answer's text. */
  firstByteMs: number
  /** Between two bytes. */
  idleMs: number
  /** For everything, tries and pauses included: a byte a second is no answer. */
  wholeMs: number
  /** Before the second try; twice as long before the third. */
  pauseMs: number
  /** A provider that asks for more patience is not waited for. */
  longestPauseMs: number
}

export const USUAL_TIMES: ProviderTimes = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  idleMs: 60_000,
  wholeMs: 600_000,
  pauseMs: 500,
  longestPauseMs: 20_000,
}

/** No reply of a model comes near it. */
const MOST_BYTES = 64 * 1024 * 1024
const MOST_ERROR_BYTES = 64 * 1024
const BEGINNING_BYTES = 1_000
/** How keys travel. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key']

export interface ExchangeOptions {
  dispatcher: Dispatcher
  model: Failing
  times: ProviderTimes
  /** When all of it has to be over, as performance.now() tells it. */
  deadline: number
  signal: AbortSignal | undefined
  /** What comes from many providers at once is not read all in one turn. */
  breather: Breather
}

export class Exchange {
  /** Why it failed, in our words: the library wraps what a fetch throws, so it is kept here. */
  failure: ProviderFailure | undefined
  readonly #options: ExchangeOptions
  readonly #ending = new AbortController()
  readonly #abort: () => void
  readonly #whole: NodeJS.Timeout
  #wait: NodeJS.Timeout | undefined
  #host = ''
  #first: Uint8Array | undefined
  #last: Uint8Array | undefined

  constructor(options: ExchangeOptions) {
    this.#options = options
    const { signal, deadline, times } = options
    this.#abort = () => this.#ending.abort(signal?.reason)
    signal?.addEventListener('abort', this.#abort, { once: true })
    this.#whole = setTimeout(() => this.#late('had not finished after', times.wholeMs), Math.max(0, deadline - performance.now()))
  }

  /** Aborts when there is no use in going on, whoever decided so. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** What the answer began with, for whoever could not make sense of it. */
  get beginning(): string {
    return this.#first === undefined ? '' : Buffer.from(this.#first.subarray(0, BEGINNING_BYTES)).toString()
  }

  /** Whether the answer says of itself that it is over. */
  get complete(): boolean {
    return this.#last !== undefined && Buffer.from(this.#last.subarray(-64)).includes('[DONE]')
  }

  /** Ends the request if it still runs. To be called in any case: timers run until then. */
  end(): void {
    clearTimeout(this.#whole)
    clearTimeout(this.#wait)
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#ending.abort()
  }

  /** What the library takes for `fetch`. */
  readonly fetch: typeof globalThis.fetch = async (address, init) => {
    const { dispatcher, model, times } = this.#options
    const url = new URL(String(address))
    this.#host = url.host
    const headers = { ...(init?.headers as Record<string, string>) }
    if (model.api_key === null) for (const name of Object.keys(headers)) if (KEY_HEADERS.includes(name.toLowerCase())) delete headers[name]
    this.#arm('sent nothing for', times.firstByteMs)
    try {
      const answer = await dispatcher.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers,
        body: init?.body as string,
        signal: this.#ending.signal,
        // The waits have timers of their own, which are exact.
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      // Redirects are refusals too: the next server would get the key.
      if (answer.statusCode < 200 || answer.statusCode >= 300) throw refused(model, url.host, await refusalOf(answer))
      return new Response(this.#bytes(answer.body), { status: 200, headers: textHeaders(answer.headers) })
    } catch (error) {
      throw this.#failed(error)
    }
  }

  /** The bytes as somebody asks for them: time that nobody waits does not count. */
  #bytes(body: Readable): ReadableStream<Uint8Array> {
    const parts = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
    let length = 0
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      try {
        if (this.#first !== undefined) this.#arm('sent nothing more for', this.#options.times.idleMs)
        const { done, value } = await parts.next()
        clearTimeout(this.#wait)
        const pause = this.#options.breather.pause()
        if (pause) await pause
        if (done) return controller.close()
        this.#first ??= value
        this.#last = value
        length += value.length
        if (length > MOST_BYTES) throw tooLong(this.#options.model, MOST_BYTES)
        controller.enqueue(value)
      } catch (error) {
        // A socket that breaks under an answer is not one that could not be reached.
        if (this.#first !== undefined && !(error instanceof ProviderFailure)) this.failure ??= cutOff(this.#options.model, '', true)
        controller.error(this.#failed(error))
      }
    }
    const cancel = () => {
      body.on('error', () => {}) // of being ended, which is what was asked
      body.destroy()
    }
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
  }

  #arm(what: string, ms: number): void {
    clearTimeout(this.#wait)
    this.#wait = setTimeout(() => this.#late(what, ms), ms)
  }

  #late(what: string, ms: number): void {
    this.failure ??= late(this.#options.model, this.#host, what, ms)
    this.#ending.abort(this.failure)
  }

  #failed(error: unknown): ProviderFailure {
    clearTimeout(this.#wait)
    this.failure ??= unreachable(this.#options.model, this.#host, error)
    return this.failure
  }
}

async function refusalOf({ statusCode: status, headers, body }: Dispatcher.ResponseData) {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    parts.push(part as Uint8Array)
    length += (part as Uint8Array).length
    if (length > MOST_ERROR_BYTES) break // leaving the loop ends the connection
  }
  return { status, headers, text: Buffer.concat(parts).toString() }
}

function textHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const type = [headers['content-type']].flat()[0]
  return type === undefined ? {} : { 'content-type': type }
}
