/** Provides the embedders: the embedded model and models of providers that have an embeddings endpoint. */
import { availableParallelism } from 'node:os'
import { createNotFoundError } from '../../src/contract/errors.ts'
import type { RemoteModel } from '../providers/remote-model.ts'
import type { Embedder } from './embedder.ts'
import { MINILM, MinilmEmbedder } from './minilm-embedder.ts'
import type { RemoteEmbedders } from './remote-embedders.ts'
import type { WorkerPoolLogger } from './worker-pool.ts'

export interface EmbeddingDependencies {
  /** Directory of the embedded model. */
  modelsDirectory: string
  findRemoteModel(modelId: string): Promise<RemoteModel | undefined>
  /** Number of processes that run the embedded model. Default: one per core, up to four. */
  workers?: number | undefined
  idleMs?: number | undefined
  logger: WorkerPoolLogger
}

const MAX_DEFAULT_WORKERS = 4
const DEFAULT_IDLE_MS = 5 * 60_000

export class EmbeddingService {
  readonly #findRemoteModel: EmbeddingDependencies['findRemoteModel']
  readonly #minilm: MinilmEmbedder
  #remoteEmbedders: Promise<RemoteEmbedders> | undefined

  constructor(dependencies: EmbeddingDependencies) {
    const { modelsDirectory: directory, logger, idleMs = DEFAULT_IDLE_MS } = dependencies
    const { workers = Math.min(availableParallelism(), MAX_DEFAULT_WORKERS) } = dependencies
    this.#findRemoteModel = dependencies.findRemoteModel
    this.#minilm = new MinilmEmbedder({ directory, workers, idleMs, logger })
  }

  /** @param id `minilm`, or the id of a model */
  async getEmbedder(id: string): Promise<Embedder> {
    if (id === MINILM) return this.#minilm
    const model = await this.#findRemoteModel(id)
    if (!model) throw createNotFoundError('model', id)
    return (await this.#loadRemoteEmbedders()).getEmbedder(model)
  }

  /** Returns the load of the embedded model. */
  getStatus(): { workers: number; pending: number } {
    const { workerCount, pendingCount } = this.#minilm.pool
    return { workers: workerCount, pending: pendingCount }
  }

  async close(): Promise<void> {
    await Promise.all([this.#minilm.pool.close(), this.#remoteEmbedders?.then((embedders) => embedders.close())])
  }

  /** Loads undici only when a provider is used. */
  #loadRemoteEmbedders(): Promise<RemoteEmbedders> {
    this.#remoteEmbedders ??= import('./remote-embedders.ts').then(({ RemoteEmbedders }) => new RemoteEmbedders())
    return this.#remoteEmbedders
  }
}
