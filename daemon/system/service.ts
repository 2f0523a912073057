/** Health, status and settings of the daemon. */
import type { Paths } from '../../src/config.ts'
import type { Health, Readiness, Settings, Status } from '../../src/contract/families/system.ts'
import { DEFAULT_EMBEDDING_MODEL } from '../../src/contract/schemas/passages.ts'
import { computeProof } from '../../src/daemon-proof.ts'
import { createDeadlineSignal, scaleTimeout } from '../../src/deadline.ts'
import { raceAbort } from '../async/abortable.ts'
import type { ChangeContext } from '../core/caller.ts'
import { requireMatchingEtag } from '../core/etag.ts'
import type { ModelsService } from '../models/service.ts'
import type { Shared } from '../shared-services.ts'
import type { Database, DatabaseReader, Transaction } from '../store/database.ts'
import { measureSize } from '../store/files/measure-size.ts'
import type { VectorStore } from '../store/vector-store.ts'
import { readCounts, readLastBackup, readSettings, writeSettings } from './store.ts'

const STORE_TIMEOUT_MS = 3_000
/** How long the readiness is kept: probes need no token, so many of them must not load the stores. */
const READINESS_MS = 1_000

export interface SystemDependencies extends Shared<'database' | 'vault'> {
  paths: Paths
  version: string
  startedAt: Date
  vectors: VectorStore
  models: ModelsService
  getAddress(): string
  /** The secret in daemon.json. */
  secret: string | undefined
  /** The number of waiting jobs by queue. */
  getQueues(): Record<string, number>
}

interface StoreCheck extends Pick<Health, 'database' | 'vector_db'> {
  isHealthy: boolean
}

export class SystemService {
  readonly #dependencies: SystemDependencies
  #readiness: { checkedAt: number; stores: Promise<StoreCheck> } | undefined

  constructor(dependencies: SystemDependencies) {
    this.#dependencies = dependencies
  }

  /** Proves to the owner's commands that this is the daemon that wrote daemon.json. */
  prove(challenge: string | undefined): { proof?: string } {
    const { secret } = this.#dependencies
    return challenge === undefined || secret === undefined ? {} : { proof: computeProof(secret, challenge) }
  }

  async getHealth(): Promise<Health> {
    const { isHealthy, ...stores } = await this.#checkStores()
    return { status: isHealthy ? 'healthy' : 'unhealthy', version: this.#dependencies.version, ...stores }
  }

  /** Checks the stores at most once in READINESS_MS. */
  async getReadiness(): Promise<Readiness> {
    const now = performance.now()
    if (this.#readiness === undefined || now - this.#readiness.checkedAt >= READINESS_MS)
      this.#readiness = { checkedAt: now, stores: this.#checkStores() }
    const { isHealthy, ...stores } = await this.#readiness.stores
    return { status: isHealthy ? 'ready' : 'not_ready', ...stores }
  }

  /** Reads both stores. A store that does not respond in time or was found damaged is disconnected. */
  async #checkStores(): Promise<StoreCheck> {
    const { database, vectors } = this.#dependencies
    const [responds, passages] = await Promise.all([respondsInTime(readCounts(database)), respondsInTime(vectors.ping())])
    const records = responds && !database.isDamaged()
    return { isHealthy: records && passages, database: formatConnection(records), vector_db: formatConnection(passages) }
  }

  async getStatus(): Promise<Status> {
    const { paths, version, startedAt, database, vault, getAddress, getQueues } = this.#dependencies
    const { rss, heapUsed } = process.memoryUsage()
    const [latency, storageLatency, records, log, vectors, documents, logs] = await Promise.all([
      measureLatency(database),
      this.#measureStorage(),
      database.isRemote ? 0 : measureSize(paths.database),
      database.isRemote ? 0 : measureSize(`${paths.database}-wal`),
      measureSize(paths.vectors),
      measureSize(paths.documents),
      measureSize(paths.logs),
    ])
    return {
      version,
      uptime_seconds: process.uptime(),
      started_at: startedAt.toISOString(),
      pid: process.pid,
      home: paths.home,
      address: getAddress(),
      database: { location: database.location, latency_ms: latency },
      storage: { location: this.#dependencies.vectors.location ?? paths.home, latency_ms: storageLatency },
      counts: await readCounts(database),
      sizes: { database: records + log, vectors, documents, logs },
      queues: getQueues(),
      embedding_model: DEFAULT_EMBEDDING_MODEL,
      secrets: vault.location,
      last_backup_at: await readLastBackup(database),
      memory: { rss, heap_used: heapUsed },
    }
  }

  async #measureStorage(): Promise<number | null> {
    const startedAt = performance.now()
    const isReachable = await respondsInTime(this.#dependencies.vectors.ping())
    return isReachable ? Math.round((performance.now() - startedAt) * 100) / 100 : null
  }

  async getSettings(reader: DatabaseReader = this.#dependencies.database): Promise<Settings> {
    return readSettings(reader)
  }

  async updateSettings(change: ChangeContext, input: Partial<Settings>): Promise<Settings> {
    return this.#dependencies.database.write(async (transaction) => {
      requireMatchingEtag('setting', change.ifMatch, await readSettings(transaction))
      const next = await this.updateSettingsInTransaction(transaction, input)
      await change.storeResponse?.(transaction, next)
      return next
    })
  }

  async updateSettingsInTransaction(transaction: Transaction, { default_model_id, ...rest }: Partial<Settings>): Promise<Settings> {
    const model = default_model_id && {
      default_model_id: await this.#dependencies.models.resolve(transaction, default_model_id, 'default_model_id'),
    }
    const next = { ...(await readSettings(transaction)), ...rest, ...model }
    await writeSettings(transaction, next)
    return next
  }
}

const formatConnection = (isConnected: boolean) => (isConnected ? ('connected' as const) : ('disconnected' as const))

const respondsInTime = (query: Promise<unknown>): Promise<boolean> =>
  raceAbort(query, createDeadlineSignal(scaleTimeout(STORE_TIMEOUT_MS))).then(
    () => true,
    () => false,
  )

/** A second query, because the first one may have to connect. */
async function measureLatency(database: Database): Promise<number> {
  await database.all('SELECT 1')
  const startedAt = performance.now()
  await database.all('SELECT 1')
  return Math.round((performance.now() - startedAt) * 100) / 100
}
