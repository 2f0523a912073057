/** Builds the knowledge family: indexes, syncs, search, services and routes. */
import type { Cluster } from '../cluster/cluster.ts'
import type { Meter } from '../core/meter.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { Binding } from '../http/binding.ts'
import type { Logger } from '../logging/logger.ts'
import type { ModelsService } from '../models/service.ts'
import type { Outbound } from '../outbound/client.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database } from '../store/database.ts'
import type { OriginalStore } from '../store/original-store.ts'
import type { VectorStore } from '../store/vector-store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Validator } from '../validation/validator.ts'
import { DocumentLookup } from './document-lookup.ts'
import { DocumentsService } from './document-service.ts'
import { IndexRegistry } from './passage-indexes/index-registry.ts'
import { RecognitionLanguages } from './recognition/recognition-languages.ts'
import { type PageRecognizer, RecognitionPool } from './recognition/recognition-pool.ts'
import { deleteUnusedPages } from './recognition/recognition-store.ts'
import { bindKnowledgeRoutes } from './routes.ts'
import { ChangedFiles } from './search/changed-files.ts'
import { PassageSearch } from './search/passage-search.ts'
import { KnowledgeService } from './service.ts'
import { answerSyncRequests } from './sync/answer-sync-requests.ts'
import { EmbeddingLedger } from './sync/embedding-ledger.ts'
import { IndexWriter } from './sync/index-writer.ts'
import { ParserPool } from './sync/parser-pool.ts'
import { ProgressTracker } from './sync/progress-tracker.ts'
import { IndexRepair } from './sync/recovery/index-repair.ts'
import { sweepWorkDirectory } from './sync/recovery/sweep-work-directory.ts'
import { SyncRecovery } from './sync/recovery/sync-recovery.ts'
import { SyncResumes } from './sync/recovery/sync-resumes.ts'
import { SyncLeases } from './sync/sync-leases.ts'
import { SyncTriggers } from './sync/sync-triggers.ts'
import { Synchronizer } from './sync/synchronizer.ts'
import { SourceTables } from './tables/source-tables.ts'

const SWEEP_LEASE = 'sweep/originals'

interface KnowledgeDependencies {
  database: Database
  cluster: Cluster
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
  /** Folder of the data of languages that were added to text recognition. */
  languageFolder: string
  /** Default: processes that run Tesseract. */
  recognizer?: PageRecognizer | undefined
}

interface Knowledge {
  service: KnowledgeService
  embeddingLedger: EmbeddingLedger
  documentLookup: DocumentLookup
  bindings: Binding[]
  /** Deletes originals that no document refers to, and old work files. */
  sweep(): Promise<void>
  /** Claims the sources that no other daemon has, and marks syncs that must not be resumed again as failed. */
  takeOver(): Promise<void>
  /** Repairs indexes, resumes interrupted syncs, then starts schedules and folder watches. Again after other daemons ended. */
  resume(): Promise<void>
  /** Ends schedules, watches and running syncs; searches still work. */
  stop(): Promise<void>
  close(): Promise<void>
}

export function createKnowledge(dependencies: KnowledgeDependencies): Knowledge {
  const { database, cluster, originals, vectors, logger, workDirectory } = dependencies
  const { leases, requests } = cluster
  const ledger = new EmbeddingLedger(dependencies)
  const parserPool = new ParserPool({ logger })
  const recognizer = dependencies.recognizer ?? new RecognitionPool(logger)
  const languages = new RecognitionLanguages(dependencies.languageFolder, recognizer)
  const indexes = new IndexRegistry(vectors)
  const writer = new IndexWriter(database, leases, indexes)
  const progress = new ProgressTracker()
  const tables = new SourceTables({
    ...dependencies,
    embed: (texts, signal) => dependencies.embedding.models.embed(texts, { signal, priority: 'high' }),
  })
  const syncLeases = new SyncLeases(database, cluster, progress)
  const resumes = new SyncResumes(database, logger)
  const repair = new IndexRepair({ database, indexes, writer, logger })
  const synchronizer = new Synchronizer({
    ...dependencies,
    ledger,
    parserPool,
    recognizer,
    languages,
    indexes,
    writer,
    progress,
    syncLeases,
    resumes,
    repair,
    tables,
  })
  const recovery = new SyncRecovery({ database, syncLeases, resumes, repair, synchronizer })
  const triggers = new SyncTriggers(database, synchronizer, logger)
  const changedFiles = new ChangedFiles()
  const search = new PassageSearch({ ...dependencies, indexes, ledger, repair, synchronizer, changedFiles })
  const service = new KnowledgeService({
    ...dependencies,
    indexes,
    synchronizer,
    triggers,
    progress,
    search,
    changedFiles,
    syncLeases,
    tables,
    languages,
  })
  answerSyncRequests(requests, { database, syncLeases, synchronizer, triggers })
  const documents = new DocumentsService(database, originals, service, synchronizer)
  const documentLookup = new DocumentLookup({ database, originals, parserPool, recognizer, languages })
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
    documentLookup,
    bindings: bindKnowledgeRoutes({ sources: service, documents, lookup: documentLookup, languages }),
    async sweep() {
      await deleteUnusedPages(database)
      await Promise.all([originals.isRemote ? undefined : documents.sweepOriginals(), sweepWorkDirectory(database, workDirectory, logger)])
    },
    takeOver: async () => void (await recovery.takeOver()),
    async resume() {
      await triggers.registerAll(await recovery.resume())
      if (originals.isRemote && !isSwept) await sweepBucket()
    },
    async stop() {
      triggers.close()
      await synchronizer.close()
    },
    async close() {
      await Promise.all([parserPool.close(), recognizer.close(), ledger.close(), tables.close()])
    },
  }
}
