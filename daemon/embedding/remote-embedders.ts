/** Embedders that use models of providers: texts are sent in batches, and the vectors are validated and normalized. */
import { CadreError } from '../../src/contract/errors.ts'
import { joinEndpoint } from '../models/providers/endpoints.ts'
import type { RemoteModel } from '../models/providers/remote-model.ts'
import { ConnectionPool } from '../outbound/connection-pool.ts'
import { Telemetry } from '../telemetry/telemetry.ts'
import type { Embedder, EmbedOptions } from './embedder.ts'
import { type EmbeddingProtocol, getEmbeddingProtocol } from './protocols.ts'
import { type EmbeddingTimeouts, requestJson } from './request-json.ts'

interface RemoteEmbedderOptions {
  timeouts?: Partial<EmbeddingTimeouts> | undefined
  telemetry?: Telemetry
}

/** Every provider accepts this many texts in a request. */
const TEXTS_PER_REQUEST = 64
/** More than the longest vectors of a full request need. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024
const DEFAULT_TIMEOUTS: EmbeddingTimeouts = { connectMs: 10_000, responseMs: 60_000, retryDelayMs: 500, maxRetryDelayMs: 60_000 }

export class RemoteEmbedders {
  readonly #client: EmbeddingClient
  readonly #embedders = new Map<string, { record: string; embedder: RemoteEmbedder }>()

  constructor({ timeouts, telemetry = new Telemetry() }: RemoteEmbedderOptions = {}) {
    const all = { ...DEFAULT_TIMEOUTS, ...timeouts }
    const connections = new ConnectionPool({
      connectTimeoutMs: all.connectMs,
      headersTimeout: all.responseMs,
      bodyTimeout: all.responseMs,
      maxResponseSize: MAX_RESPONSE_BYTES,
    })
    this.#client = { connections, timeouts: all, telemetry }
  }

  /** Returns the same embedder until the model's record changes, because it caches the number of dimensions. */
  getEmbedder(model: RemoteModel): Embedder {
    const record = JSON.stringify(model)
    const cached = this.#embedders.get(model.id)
    if (cached?.record === record) return cached.embedder
    const embedder = new RemoteEmbedder(model, getEmbeddingProtocol(model), this.#client)
    this.#embedders.set(model.id, { record, embedder })
    return embedder
  }

  close(): Promise<void> {
    return this.#client.connections.close()
  }
}

/** What the embedders share. */
interface EmbeddingClient {
  connections: ConnectionPool
  timeouts: EmbeddingTimeouts
  telemetry: Telemetry
}

class RemoteEmbedder implements Embedder {
  readonly id: string
  readonly batchSize: number
  readonly #model: RemoteModel
  readonly #protocol: EmbeddingProtocol
  readonly #client: EmbeddingClient
  #dimensions: number | undefined

  constructor(model: RemoteModel, protocol: EmbeddingProtocol, client: EmbeddingClient) {
    this.id = model.id
    this.batchSize = TEXTS_PER_REQUEST * protocol.concurrency
    this.#model = model
    this.#protocol = protocol
    this.#client = client
  }

  /** Embeds a text if necessary: providers do not publish the dimensions. */
  async getDimensions(): Promise<number> {
    if (this.#dimensions === undefined) await this.embed(['dimensions'])
    return this.#dimensions ?? 0
  }

  async embed(texts: readonly string[], { signal, onUsage }: EmbedOptions = {}): Promise<Float32Array[]> {
    const vectors = new Array<Float32Array>(texts.length)
    // The first failure aborts the concurrent requests too.
    const failure = new AbortController()
    const stop = signal ? AbortSignal.any([signal, failure.signal]) : failure.signal
    let next = 0
    const sendBatches = async () => {
      while (next < texts.length) {
        const start = next
        next += TEXTS_PER_REQUEST
        const batch = await this.#embedBatch(texts.slice(start, next), stop, onUsage)
        for (const [index, vector] of batch.entries()) vectors[start + index] = vector
      }
    }
    try {
      await Promise.all(Array.from({ length: this.#protocol.concurrency }, sendBatches))
    } catch (error) {
      failure.abort()
      throw error
    }
    return vectors
  }

  async #embedBatch(texts: readonly string[], signal: AbortSignal, onUsage: EmbedOptions['onUsage']): Promise<Float32Array[]> {
    const { path, headers, body, parse } = this.#protocol.createRequest(texts.map(toSendableText))
    const { connections, timeouts, telemetry } = this.#client
    const dispatcher = await connections.getAgent(this.#model.allow_private)
    const url = joinEndpoint(this.#protocol.endpoint, path)
    const { provider, model_id } = this.#model
    const attributes = { 'gen_ai.operation.name': 'embeddings', 'gen_ai.provider.name': provider, 'gen_ai.request.model': model_id }
    const operation = { labels: [provider, 'embedding'], spanName: `embeddings ${model_id}`, attributes, signal }
    const response = await telemetry.measure('provider_call', operation, () => {
      const allHeaders = { ...telemetry.getTraceHeaders(), ...headers }
      return requestJson({ dispatcher, model: this.#model, url, headers: allHeaders, body, timeouts, signal })
    })
    const { vectors, tokens } = parse(response)
    // Invalid vectors cost money too.
    if (tokens !== undefined) onUsage?.(tokens)
    if (vectors.length !== texts.length) throw this.#createInvalidVectorError(`${vectors.length} vectors for ${texts.length} texts`)
    return vectors.map((vector) => this.#normalize(vector))
  }

  #normalize(vector: unknown): Float32Array {
    if (!Array.isArray(vector) || vector.length === 0 || !vector.every(Number.isFinite))
      throw this.#createInvalidVectorError('an invalid vector')
    this.#dimensions ??= vector.length
    if (vector.length !== this.#dimensions)
      throw this.#createInvalidVectorError(`a vector of ${vector.length} dimensions instead of ${this.#dimensions}`)
    const length = Math.hypot(...(vector as number[]))
    if (length === 0) throw this.#createInvalidVectorError('a vector of zeros')
    return Float32Array.from(vector as number[], (number) => number / length)
  }

  #createInvalidVectorError(problem: string): CadreError {
    return new CadreError('PROVIDER_ERROR', `The model ${this.#model.model_id} (${this.#model.provider}) returned ${problem}.`, {
      hint: 'Check that it is an embedding model.',
    })
  }
}

/** Providers reject empty texts; Buffer replaces unpaired surrogates. */
const toSendableText = (text: string): string => (text === '' ? ' ' : Buffer.from(text).toString())
