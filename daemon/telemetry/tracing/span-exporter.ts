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

export function createSpanExporter(settings: TraceSettings, version: string, logger: Logger) {
  const counts = { exported: 0, dropped: 0 }
  const closing = new AbortController()
  let queue: FinishedSpan[] = []
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  /** Whether the last batch failed: only the first failure of a series is logged. */
  let isFailing = false

  function add(span: FinishedSpan): void {
    if (queue.length >= settings.maxQueueSize || closing.signal.aborted) {
      counts.dropped++
      return
    }
    queue.push(span)
    if (queue.length >= settings.batchSize) void flush()
    else timer ??= setTimeout(() => void flush(), settings.delayMs).unref()
  }

  async function close(): Promise<void> {
    const deadline = startDeadline(scaleTimeout(CLOSE_TIMEOUT_MS), () => closing.abort())
    await flush()
    deadline.cancel()
    closing.abort()
  }

  /** One batch is sent at a time. */
  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
    return sending
  }

  async function sendAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, settings.batchSize)
      queue = queue.slice(batch.length)
      try {
        await send(batch)
        counts.exported += batch.length
        if (isFailing) logger.info({ url: settings.url }, 'traces are sent again')
        isFailing = false
      } catch (error) {
        counts.dropped += batch.length
        if (!isFailing) logger.warn({ err: error, url: settings.url }, 'traces could not be sent')
        isFailing = true
      }
    }
  }

  async function send(batch: readonly FinishedSpan[]): Promise<void> {
    const { url, headers, resource, isCompressed, timeoutMs } = settings
    const json = encodeSpans(batch, resource, version)
    const body = isCompressed ? await promisify(gzip)(json) : json
    const encoding: Record<string, string> = isCompressed ? { 'content-encoding': 'gzip' } : {}
    for (let retries = 0; ; retries++) {
      const signal = AbortSignal.any([closing.signal, createDeadlineSignal(timeoutMs)])
      const request = { method: 'POST', headers: { ...headers, 'content-type': 'application/json', ...encoding }, body, signal }
      const response = await fetch(url, { ...request, redirect: 'error' }).catch((error: Error) => {
        // The collector may have closed the connection that was kept open.
        if (signal.aborted || retries >= MAX_RETRIES) throw error
      })
      await response?.body?.cancel()
      if (response?.ok) return
      if (response && (!RETRYABLE_STATUSES.includes(response.status) || retries >= MAX_RETRIES))
        throw new Error(`The collector responded with ${response.status}.`)
      await sleep(RETRY_DELAY_MS * 2 ** retries, undefined, { signal: closing.signal })
    }
  }

  return { counts, add, close }
}

export type SpanExporter = ReturnType<typeof createSpanExporter>
