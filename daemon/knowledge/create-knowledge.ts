/** Builds the knowledge family: indexes, syncs, search, services and routes. */
import type { Meter } from '../core/meter.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { Binding } from '../http/binding.ts'
import type { Logger } from '../logging/logger.ts'
import type { ModelsService } from '../models/service.ts'
import type { Outbound } from '../outbound/client.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database } from '../store/database.ts'
import type { OriginalStore } from '../store/original-store.ts'
import type { DaemonRequests } from '../store/shared/daemon-requests.ts'
import type { Leases } from '../store/shared/leases.ts'
import type { VectorStore } from '../store/vector-store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Validator } from '../validation/validator.ts'
import { DocumentReader } from './document-reader.ts'
import { DocumentsService } from './document-service.ts'
import { IndexRegistry } from './indexes/index-registry.ts'
import { bindKnowledgeRoutes } from './routes.ts'
import { PassageSearch } from './search/passage-search.ts'
import { KnowledgeService } from './service.ts'
import { answerSyncRequests } from './sync/answer-sync-requests.ts'
import { EmbeddingLedger } from './sync/embedding-ledger.ts'
import { IndexWriter } from './sync/index-writer.ts'
import { ParserPool } from './sync/parser-pool.ts'
import { ProgressTracker } from './sync/progress-tracker.ts'
import { SyncLeases } from './sync/sync-leases.ts'
import { SyncTriggers } from './sync/sync-triggers.ts'
import { Synchronizer } from './sync/synchronizer.ts'

const SWEEP_LEASE = 'sweep/originals'

interface KnowledgeDependencies {
  database: Database
  leases: Leases
  /** Only if several daemons share the database. */
  requests: DaemonRequests | undefined
  originals: OriginalStore
  vectors: VectorStore
  vault: Vault
  validator: Validator
  outbound: Outbound
  models: ModelsService
  embedding: EmbeddingService
  meter: Meter
  logger: Logger
  telemetry: Telemetry
  /** Parent of the directories in which sources keep clones and downloaded pages. */
  workDirectory: string
}

export interface Knowledge {
  service: KnowledgeService
  embeddingLedger: EmbeddingLedger
  documentReader: DocumentReader
  bindings: Binding[]
  /** Deletes originals that no document refers to, and old work files. */
  sweep(): Promise<void>
  /** Marks syncs that must not be resumed again as failed. */
  parkSyncs(): Promise<void>
  /** Repairs indexes, resumes interrupted syncs, then starts schedules and folder watches. Again after other daemons ended. */
  resume(): Promise<void>
  /** Ends schedules, watches and running syncs; searches still work. */
  stop(): Promise<void>
  close(): Promise<void>
}

export function createKnowledge(dependencies: KnowledgeDependencies): Knowledge {
  const { database, leases, requests, originals, vectors, logger } = dependencies
  const ledger = new EmbeddingLedger(dependencies)
  const parserPool = new ParserPool()
  const indexes = new IndexRegistry(vectors)
  const writer = new IndexWriter(database, indexes)
  const progress = new ProgressTracker()
  const others = requests && new SyncLeases({ ...dependencies, requests, progress })
  const synchronizer = new Synchronizer({ ...dependencies, ledger, parserPool, indexes, writer, progress, others })
  const triggers = new SyncTriggers(database, synchronizer, logger)
  const search = new PassageSearch({ ...dependencies, indexes, ledger, synchronizer })
  const service = new KnowledgeService({ ...dependencies, indexes, synchronizer, triggers, progress, search, others })
  if (requests && others) answerSyncRequests(requests, { database, leases: others, synchronizer, triggers })
  const documents = new DocumentsService(database, originals, service, synchronizer)
  let isSwept = false
  /** Listing a bucket takes longer than listing a folder, so that it is not part of the start. One daemon does it. */
  const sweepBucket = async () => {
    isSwept = true
    if (!(await leases.claim(SWEEP_LEASE))) return
    await documents.sweepOriginals().catch((error: unknown) => logger.error({ err: error }, 'cannot remove unused originals'))
    await leases.release(SWEEP_LEASE)
  }
  return {
    service,
    embeddingLedger: ledger,
    documentReader: new DocumentReader(database, originals, parserPool),
    bindings: bindKnowledgeRoutes(service, documents),
    async sweep() {
      await Promise.all([originals.isShared ? undefined : documents.sweepOriginals(), synchronizer.sweepWorkDirectory()])
    },
    parkSyncs: () => synchronizer.parkSyncs(),
    async resume() {
      await triggers.registerAll(await synchronizer.resume())
      if (originals.isShared && !isSwept) await sweepBucket()
    },
    async stop() {
      triggers.close()
      await synchronizer.close()
    },
    async close() {
      await Promise.all([parserPool.close(), ledger.close()])
    },
  }
}
