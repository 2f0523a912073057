/** Models of providers as embedders: in batches, with their vectors checked and normalised. */
import { CadreError } from '../../src/contract/errors.ts'
import { Connections } from '../outbound/connections.ts'
import type { RemoteModel } from '../providers/remote-model.ts'
import type { Embedder, EmbedOptions } from './embedder.ts'
import { type EmbeddingProtocol, getEmbeddingProtocol } from './protocols.ts'
import { type EmbeddingTimeouts, requestJson } from './request-json.ts'

export interface RemoteEmbedderOptions {
  timeouts?: Partial<EmbeddingTimeouts> | undefined
}

/** What every provider takes in one request. */
const TEXTS_A_REQUEST = 64
/** More than the longest vectors of a full request need. */
const ANSWER_BYTES = 64 * 1024 * 1024
const TIMES: EmbeddingTimeouts = { connectMs: 10_000, responseMs: 60_000, retryDelayMs: 500, maxRetryDelayMs: 60_000 }

export class RemoteEmbedders {
  readonly #connections: Connections
  readonly #times: EmbeddingTimeouts
  readonly #made = new Map<string, { recorded: string; getEmbedder: RemoteEmbedder }>()

  constructor({ timeouts: times }: RemoteEmbedderOptions = {}) {
    this.#times = { ...TIMES, ...times }
    const { connectMs, responseMs: answerMs } = this.#times
    this.#connections = new Connections({ connectMs, headersTimeout: answerMs, bodyTimeout: answerMs, maxResponseSize: ANSWER_BYTES })
  }

  /** The same one while its record stays the same, since it has learnt how long the vectors are. */
  embedder(model: RemoteModel): Embedder {
    const recorded = JSON.stringify(model)
    const made = this.#made.get(model.id)
    if (made?.recorded === recorded) return made.getEmbedder
    const embedder = new RemoteEmbedder(model, getEmbeddingProtocol(model), this.#connections, this.#times)
    this.#made.set(model.id, { recorded, getEmbedder: embedder })
    return embedder
  }

  close(): Promise<void> {
    return this.#connections.close()
  }
}

class RemoteEmbedder implements Embedder {
  readonly id: string
  readonly batchSize: number
  readonly #model: RemoteModel
  readonly #wire: EmbeddingProtocol
  readonly #connections: Connections
  readonly #times: EmbeddingTimeouts
  #dimensions: number | undefined

  constructor(model: RemoteModel, wire: EmbeddingProtocol, connections: Connections, times: EmbeddingTimeouts) {
    this.id = model.id
    this.batchSize = TEXTS_A_REQUEST * wire.concurrency
    this.#model = model
    this.#wire = wire
    this.#connections = connections
    this.#times = times
  }

  /** A provider says how long its vectors are only by making one. */
  async getDimensions(): Promise<number> {
    if (this.#dimensions === undefined) await this.embed(['dimensions'])
    return this.#dimensions ?? 0
  }

  async embed(texts: readonly string[], { signal, onUsage: counted }: EmbedOptions = {}): Promise<Float32Array[]> {
    const vectors = new Array<Float32Array>(texts.length)
    // The first failure ends the other requests too: nobody would read their answers.
    const failed = new AbortController()
    const stop = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
    let next = 0
    const send = async () => {
      while (next < texts.length) {
        const from = next
        next += TEXTS_A_REQUEST
        for (const [at, vector] of (await this.#request(texts.slice(from, next), stop, counted)).entries()) vectors[from + at] = vector
      }
    }
    try {
      await Promise.all(Array.from({ length: this.#wire.concurrency }, send))
    } catch (error) {
      failed.abort()
      throw error
    }
    return vectors
  }

  async #request(texts: readonly string[], signal: AbortSignal, counted: EmbedOptions['onUsage']): Promise<Float32Array[]> {
    const { path, headers, body, parse: answer } = this.#wire.createRequest(texts.map(sendable))
    const dispatcher = await this.#connections.agent(this.#model.allow_private)
    const reply = await requestJson({
      dispatcher,
      model: this.#model,
      url: joined(this.#wire.endpoint, path),
      headers,
      body,
      timeouts: this.#times,
      signal,
    })
    const { vectors, tokens } = answer(reply)
    // Told even if the vectors are of no use: they are paid for.
    if (tokens !== undefined) counted?.(tokens)
    if (vectors.length !== texts.length) throw this.#unfit(`${vectors.length} vectors for ${texts.length} texts`)
    return vectors.map((vector) => this.#checked(vector))
  }

  #checked(numbers: unknown): Float32Array {
    if (!Array.isArray(numbers) || numbers.length === 0 || !numbers.every(Number.isFinite)) throw this.#unfit('something that is no vector')
    this.#dimensions ??= numbers.length
    if (numbers.length !== this.#dimensions) throw this.#unfit(`a vector of ${numbers.length} numbers after one of ${this.#dimensions}`)
    const length = Math.hypot(...(numbers as number[]))
    if (length === 0) throw this.#unfit('a vector of zeros, which is like no other')
    return Float32Array.from(numbers as number[], (number) => number / length)
  }

  #unfit(what: string): CadreError {
    return new CadreError(
      'PROVIDER_ERROR',
      `The embedding model ${this.#model.model_id} (${this.#model.provider}) answered with ${what}.`,
      {
        hint: 'Check that it is an embedding model.',
      },
    )
  }
}

/** Providers refuse empty texts, and half of a pair of surrogates is no text. */
const sendable = (text: string): string => (text === '' ? ' ' : Buffer.from(text).toString())

function joined(endpoint: string, path: string): URL {
  const url = new URL(endpoint)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`
  return url
}
