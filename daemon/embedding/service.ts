/** Every embedder there is: the embedded model, and the models of providers that have an embeddings endpoint. */
import { availableParallelism } from 'node:os'
import { createNotFoundError } from '../../src/contract/errors.ts'
import type { RemoteModel } from '../providers/remote-model.ts'
import type { Embedder } from './embedder.ts'
import { MINILM, MinilmEmbedder } from './minilm-embedder.ts'
import type { RemoteEmbedders } from './remote-embedders.ts'
import type { WorkerPoolLogger } from './worker-pool.ts'

export type { RemoteModel } from '../providers/remote-model.ts'

export interface EmbeddingDependencies {
  /** Where the build put the embedded model. */
  modelsDirectory: string
  /** The model of this id with its key, where there is one. */
  findRemoteModel(modelId: string): Promise<RemoteModel | undefined>
  /** Processes that run the embedded model; as many as there are cores, and four at most, where none are given. */
  workers?: number | undefined
  idleMs?: number | undefined
  logger: WorkerPoolLogger
}

const MOST_WORKERS = 4
const IDLE_MS = 5 * 60_000

export class EmbeddingService {
  readonly #options: EmbeddingDependencies
  readonly #minilm: MinilmEmbedder
  #remotes: Promise<RemoteEmbedders> | undefined

  constructor(options: EmbeddingDependencies) {
    this.#options = options
    const { modelsDirectory: directory, workers = Math.min(availableParallelism(), MOST_WORKERS), idleMs = IDLE_MS, logger } = options
    this.#minilm = new MinilmEmbedder({ directory, workers, idleMs, logger })
  }

  /** `minilm`, or the model of that id as it is recorded now. */
  async getEmbedder(id: string): Promise<Embedder> {
    if (id === MINILM) return this.#minilm
    const model = await this.#options.findRemoteModel(id)
    if (!model) throw createNotFoundError('model', id)
    return (await this.#remote()).embedder(model)
  }

  /** How busy the embedded model is. */
  getStatus(): { workers: number; waiting: number } {
    const { workers, pendingCount: waiting } = this.#minilm.pool
    return { workers, waiting }
  }

  async close(): Promise<void> {
    await Promise.all([this.#minilm.pool.close(), this.#remotes?.then((remotes) => remotes.close())])
  }

  /** undici is loaded only by those who use a provider. */
  #remote(): Promise<RemoteEmbedders> {
    this.#remotes ??= import('./remote-embedders.ts').then(({ RemoteEmbedders }) => new RemoteEmbedders())
    return this.#remotes
  }
}
