/** Provides the embedders: the embedded model and models of providers that have an embeddings endpoint. */
import { createNotFoundError } from '../../src/contract/errors.ts'
import { EmbeddedModels } from '../inference/embedded-models.ts'
import type { RemoteModel } from '../models/providers/remote-model.ts'
import { Telemetry } from '../telemetry/telemetry.ts'
import type { WorkerPoolLogger } from '../workers/worker-pool-options.ts'
import type { Embedder } from './embedder.ts'
import { createMinilmEmbedder, MINILM } from './minilm-embedder.ts'
import type { RemoteEmbedders } from './remote-embedders.ts'

interface EmbeddingDependencies {
  /** Directory of the embedded models. */
  modelsDirectory: string
  resolveRemoteModel(modelId: string): Promise<RemoteModel | undefined>
  /** Number of processes that run the embedded models. Default: one per core, up to four. */
  workers?: number | undefined
  idleMs?: number | undefined
  logger: WorkerPoolLogger
  telemetry?: Telemetry
}

export class EmbeddingService {
  /** The models that ship with Cadre; also reads passages. */
  readonly models: EmbeddedModels
  readonly #resolveRemoteModel: EmbeddingDependencies['resolveRemoteModel']
  readonly #minilm: Embedder
  readonly #telemetry: Telemetry
  #remoteEmbedders: Promise<RemoteEmbedders> | undefined

  constructor({ modelsDirectory: directory, resolveRemoteModel, telemetry = new Telemetry(), ...options }: EmbeddingDependencies) {
    this.#telemetry = telemetry
    this.models = new EmbeddedModels({ directory, ...options })
    this.#resolveRemoteModel = resolveRemoteModel
    this.#minilm = createMinilmEmbedder(this.models)
  }

  /** @param id `minilm`, or the id of a model */
  async getEmbedder(id: string): Promise<Embedder> {
    if (id === MINILM) return this.#minilm
    const model = await this.#resolveRemoteModel(id)
    if (!model) throw createNotFoundError('model', id)
    return (await this.#loadRemoteEmbedders()).getEmbedder(model)
  }

  /** Returns the load of the embedded models. */
  getStatus(): { workers: number; pending: number } {
    const { workerCount, pendingCount } = this.models.pool
    return { workers: workerCount, pending: pendingCount }
  }

  async close(): Promise<void> {
    await Promise.all([this.models.close(), this.#remoteEmbedders?.then((embedders) => embedders.close())])
  }

  /** Loads undici only when a provider is used. */
  #loadRemoteEmbedders(): Promise<RemoteEmbedders> {
    this.#remoteEmbedders ??= import('./remote-embedders.ts').then(
      ({ RemoteEmbedders }) => new RemoteEmbedders({ telemetry: this.#telemetry }),
    )
    return this.#remoteEmbedders
  }
}
