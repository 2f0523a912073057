/** Sends finished spans in batches to a collector. Its failures are logged and never affect a request; a full buffer drops spans. */
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { createDeadlineSignal, scaleTimeout, startDeadline } from '../../../src/deadline.ts'
import type { Logger } from '../../logging/logger.ts'
import { encodeSpans } from './encode-spans.ts'
import type { FinishedSpan } from './finished-span.ts'
import type { TraceSettings } from './trace-settings.ts'

/** The collector did not store the spans and asks to send them again. */
const RETRYABLE_STATUSES = [429, 502, 503, 504]
const MAX_RETRIES = 2
const RETRY_DELAY_MS = 1_000
/** For the last spans when the daemon stops. */
const CLOSE_TIMEOUT_MS = 1_500

export class SpanExporter {
  readonly counts = { exported: 0, dropped: 0 }
  readonly #settings: TraceSettings
  readonly #version: string
  readonly #logger: Logger
  readonly #closing = new AbortController()
  #queue: FinishedSpan[] = []
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  /** Whether the last batch failed: only the first failure of a series is logged. */
  #isFailing = false

  constructor(settings: TraceSettings, version: string, logger: Logger) {
    this.#settings = settings
    this.#version = version
    this.#logger = logger
  }

  add(span: FinishedSpan): void {
    if (this.#queue.length >= this.#settings.maxQueueSize || this.#closing.signal.aborted) {
      this.counts.dropped++
      return
    }
    this.#queue.push(span)
    if (this.#queue.length >= this.#settings.batchSize) void this.#flush()
    else this.#timer ??= setTimeout(() => void this.#flush(), this.#settings.delayMs).unref()
  }

  async close(): Promise<void> {
    const deadline = startDeadline(scaleTimeout(CLOSE_TIMEOUT_MS), () => this.#closing.abort())
    await this.#flush()
    deadline.cancel()
    this.#closing.abort()
  }

  /** One batch is sent at a time. */
  #flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
    return this.#sending
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, this.#settings.batchSize)
      this.#queue = this.#queue.slice(batch.length)
      try {
        await this.#send(batch)
        this.counts.exported += batch.length
        if (this.#isFailing) this.#logger.info({ url: this.#settings.url }, 'traces are sent again')
        this.#isFailing = false
      } catch (error) {
        this.counts.dropped += batch.length
        if (!this.#isFailing) this.#logger.warn({ err: error, url: this.#settings.url }, 'traces could not be sent')
        this.#isFailing = true
      }
    }
  }

  async #send(batch: readonly FinishedSpan[]): Promise<void> {
    const { url, headers, resource, isCompressed, timeoutMs } = this.#settings
    const json = encodeSpans(batch, resource, this.#version)
    const body = isCompressed ? await promisify(gzip)(json) : json
    const encoding: Record<string, string> = isCompressed ? { 'content-encoding': 'gzip' } : {}
    for (let retries = 0; ; retries++) {
      const signal = AbortSignal.any([this.#closing.signal, createDeadlineSignal(timeoutMs)])
      const request = { method: 'POST', headers: { ...headers, 'content-type': 'application/json', ...encoding }, body, signal }
      const response = await fetch(url, { ...request, redirect: 'error' }).catch((error: Error) => {
        // The collector may have closed the connection that was kept open.
        if (signal.aborted || retries >= MAX_RETRIES) throw error
      })
      await response?.body?.cancel()
      if (response?.ok) return
      if (response && (!RETRYABLE_STATUSES.includes(response.status) || retries >= MAX_RETRIES))
        throw new Error(`The collector responded with ${response.status}.`)
      await sleep(RETRY_DELAY_MS * 2 ** retries, undefined, { signal: this.#closing.signal })
    }
  }
}
