/** Sends a JSON request to a provider's embeddings endpoint, with retries. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import { createDeadlineSignal } from '../../src/deadline.ts'
import {
  createIncompleteError,
  createNetworkError,
  createStatusError,
  createTimeoutError,
  ProviderError,
  parseJson,
} from '../models/providers/provider-error.ts'
import type { RemoteModel } from '../models/providers/remote-model.ts'

export interface EmbeddingTimeouts {
  connectMs: number
  /** Until the first byte and between two bytes; the whole response may take twice as long. */
  responseMs: number
  /** Before the first retry, doubled for each further one, unless the provider asks for a delay. */
  retryDelayMs: number
  /** A provider that asks for a longer delay is not retried. */
  maxRetryDelayMs: number
}

interface EmbeddingRequest {
  dispatcher: Dispatcher
  model: RemoteModel
  url: URL
  headers: Record<string, string>
  body: object
  timeouts: EmbeddingTimeouts
  signal: AbortSignal
}

const MAX_RETRIES = 3
/** Only statuses which say that the request was not processed, because processed requests cost money. */
const RETRYABLE_STATUSES = new Set([429, 503])

export async function requestJson(embeddingRequest: EmbeddingRequest): Promise<unknown> {
  const { timeouts, signal } = embeddingRequest
  for (let retries = 0; ; retries++) {
    try {
      return await post(embeddingRequest)
    } catch (error) {
      if (!(error instanceof ProviderError) || !error.isRetryable || retries >= MAX_RETRIES) throw error
      const delayMs = error.retryAfterMs ?? timeouts.retryDelayMs * 2 ** retries
      if (delayMs > timeouts.maxRetryDelayMs) throw error
      await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

async function post({ dispatcher, url, headers, body, timeouts, signal, model }: EmbeddingRequest): Promise<unknown> {
  signal.throwIfAborted()
  const totalMs = timeouts.responseMs * 2
  const timeout = createDeadlineSignal(totalMs)
  try {
    const response = await request(url, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, timeout]),
    })
    const { statusCode: status } = response
    const text = await response.body.text()
    if (status < 200 || status >= 300)
      throw createStatusError(model, url.host, { status, headers: response.headers, text }, RETRYABLE_STATUSES)
    const json = parseJson(text)
    if (json === undefined) throw createIncompleteError(model, text, false)
    return json
  } catch (error) {
    signal.throwIfAborted()
    throw timeout.aborted
      ? createTimeoutError(model, url.host, 'did not finish within', totalMs)
      : createNetworkError(model, url.host, error)
  }
}
