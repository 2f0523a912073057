/** Service for knowledge sources: CRUD, syncs, indexes of tools and search. */

import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { CadreError } from '../../src/contract/errors.ts'
import { type KnowledgeSource, knowledgeSources } from '../../src/contract/families/knowledge-sources.ts'
import { MAX_QUERY_ROWS, type TableList, type TableQuery, type TableQueryResult } from '../../src/contract/families/tables.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import type { SearchResult } from '../../src/contract/schemas/passages.ts'
import { removeRepositoryCredentials } from '../../src/contract/url-credentials.ts'
import type { Caller } from '../core/caller.ts'
import type { DocumentCount, ListNeighbours, Tool } from '../core/tool.ts'
import { Resource } from '../crud/resource.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database, DatabaseReader, Transaction } from '../store/database.ts'
import type { OriginalStore } from '../store/original-store.ts'
import type { Compute, ComputedAnswer } from '../tables/computation.ts'
import type { Validator } from '../validation/validator.ts'
import type { IndexRegistry } from './passage-indexes/index-registry.ts'
import { type Index, type IndexSettings, listIndexes, removeIndexUser } from './passage-indexes/index-store.ts'
import type { RecognitionLanguages } from './recognition/recognition-languages.ts'
import { markForRecognition } from './recognition/recognition-store.ts'
import { joinLanguages } from './recognition/recognized-page.ts'
import type { ChangedFiles } from './search/changed-files.ts'
import { listNeighbouringPassages } from './search/neighbouring-passages.ts'
import type { PassageQuery, PassageSearch } from './search/passage-search.ts'
import { type Quote, QuoteVerifier } from './search/quote-verifier.ts'
import { getSourceDescriptions, type SourceDescriptions } from './search/search-store.ts'
import { createSearchTool, type SearchSources, type ToolIdentity } from './search-tool.ts'
import { applyAuth, openAuth, type SourceInput } from './source-auth.ts'
import { deleteDocuments, getStatistics, listContentHashes, releaseOriginal, type StoredSource, sourceRecords } from './store.ts'
import type { Progress, ProgressTracker } from './sync/progress-tracker.ts'
import type { SyncLeases } from './sync/sync-leases.ts'
import type { SyncTriggers } from './sync/sync-triggers.ts'
import type { Synchronizer } from './sync/synchronizer.ts'
import { createTableTools } from './table-tools.ts'
import { type DocumentQueryResult, type SourceTables, toTableListView } from './tables/source-tables.ts'
import { validateConfiguration, validateFolders } from './validate-configuration.ts'

/** The status is stored shortly before a sync starts. If another daemon syncs the source, it takes longer. */
const MIN_POLL_INTERVAL_MS = 20
const MAX_POLL_INTERVAL_MS = 500

type SourceView = Static<typeof KnowledgeSource>

interface KnowledgeServiceDependencies {
  database: Database
  vault: Vault
  originals: OriginalStore
  validator: Validator
  indexes: IndexRegistry
  synchronizer: Synchronizer
  triggers: SyncTriggers
  progress: ProgressTracker
  search: PassageSearch
  changedFiles: ChangedFiles
  syncLeases: SyncLeases
  tables: SourceTables
  languages: RecognitionLanguages
}

export class KnowledgeService extends Resource<StoredSource, SourceInput, SourceView> {
  readonly #dependencies: KnowledgeServiceDependencies
  readonly #quoteVerifier: QuoteVerifier

  constructor(dependencies: KnowledgeServiceDependencies) {
    const { database, vault, originals, validator, indexes, synchronizer, triggers, progress, syncLeases } = dependencies
    // Content hashes of deleted sources, until their originals are released.
    const unusedHashes = new Map<string, string[]>()
    super(database, knowledgeSources, sourceRecords, {
      prepare: async (record, input, { caller, current }) => {
        // An unchanged configuration is not checked, so that an editor can update a source that an admin configured.
        if (current === undefined || !isDeepStrictEqual(record.configuration, current.configuration))
          validateConfiguration(validator, caller, record)
        validateFolders(record.folder_descriptions)
        return applyAuth(vault, record, input, caller, current)
      },
      openSecrets: (source) => ({ auth: openAuth(vault, source) }),
      toView: async (reader, { version: _, secrets: __, ...source }) => ({
        ...source,
        configuration: removeRepositoryCredentials(source.configuration),
        statistics: await getStatistics(reader, source.id),
        progress:
          progress.get(source.id) ?? (source.status === 'syncing' ? await syncLeases.readState(reader, source.id) : null)?.progress ?? null,
        watching: triggers.getWatchState(source.id),
      }),
      afterSave: async (source) => {
        if (!(await syncLeases.delegate(source.id, 'configure'))) triggers.register(source)
      },
      beforeRemove: async (transaction, { id }) => {
        unusedHashes.set(id, await listContentHashes(transaction, id))
        await deleteDocuments(transaction, id)
      },
      afterRemove: async ({ id }) => {
        triggers.unregister(id)
        await synchronizer.forgetSource(id)
        for (const index of await listIndexes(database, id)) await indexes.drop(database, index)
        for (const contentHash of unusedHashes.get(id) ?? []) await releaseOriginal(originals, database, contentHash)
        unusedHashes.delete(id)
      },
    })
    this.#dependencies = dependencies
    this.#quoteVerifier = new QuoteVerifier(indexes, dependencies.changedFiles)
  }

  /** Starts a sync and returns immediately. */
  async sync(caller: Caller, id: string, { recognize_again = false }: { recognize_again?: boolean }): Promise<SourceView> {
    await this.require(this.database, caller, id)
    if (recognize_again) await markForRecognition(this.database, id, joinLanguages(await this.#dependencies.languages.listFiles()))
    await this.#dependencies.synchronizer.start(id)
    return this.get(caller, id)
  }

  async cancelSync(caller: Caller, id: string): Promise<string> {
    await this.require(this.database, caller, id)
    if (!(await this.#dependencies.synchronizer.cancel(id))) throw new CadreError('CONFLICT', 'No sync is running for this source.')
    return 'The sync was cancelled.'
  }

  /** Describes the current state of a source, for the record of an evaluation run. */
  async describe(reader: DatabaseReader, id: string) {
    const source = await sourceRecords.get(reader, id)
    if (!source) return undefined
    const { documents, chunks } = await getStatistics(reader, id)
    return { id, name: source.name, last_sync: source.last_sync, documents, chunks }
  }

  /** Returns the readings of a question over the tables of sources, with their results. */
  computeAnswer(sourceIds: readonly string[], ...question: Parameters<Compute>): Promise<ComputedAnswer> {
    return this.#dependencies.tables.ask(sourceIds, ...question)
  }

  async listTables(caller: Caller, id: string): Promise<TableList> {
    await this.require(this.database, caller, id)
    return toTableListView(await this.#dependencies.tables.list(id))
  }

  /** Runs a SELECT over the tables of a source. */
  async queryTables(caller: Caller, id: string, query: Static<typeof TableQuery>, signal: AbortSignal): Promise<TableQueryResult> {
    return (await this.queryDocuments(caller, id, query, signal)).result
  }

  /** Returns the result of a query with the documents of the tables that it read. */
  async queryDocuments(
    caller: Caller,
    id: string,
    { sql, max_rows = MAX_QUERY_ROWS }: Static<typeof TableQuery>,
    signal: AbortSignal,
  ): Promise<DocumentQueryResult> {
    await this.require(this.database, caller, id)
    return this.#dependencies.tables.query(caller.tokenId ?? caller.userId ?? id, id, sql, max_rows, signal)
  }

  /** Creates the tool that searches sources, with what it can do besides. */
  createSearchTool(tool: ToolIdentity, sourceIds: readonly string[], search: SearchSources): Tool {
    const { tables, validator } = this.#dependencies
    return createSearchTool(tool, validator, search, {
      countDocuments: () => this.countDocuments(sourceIds),
      compute: (...question) => this.computeAnswer(sourceIds, ...question),
      listNeighbours: this.listNeighbours,
      companions: createTableTools(tool, sourceIds, validator, tables),
    })
  }

  /** Counts the documents and skipped files of each source, without unreadable ones. */
  async countDocuments(sourceIds: readonly string[]): Promise<Map<string, DocumentCount>> {
    const counts = sourceIds.map(async (id) => {
      const { documents, failed, recognizing, skipped } = await getStatistics(this.database, id)
      return [id, { documents: documents - failed - recognizing, recognizing, skipped }] as const
    })
    return new Map(await Promise.all(counts))
  }

  readonly listNeighbours: ListNeighbours = async ({ document_id, start, end }) => {
    if (document_id === undefined || typeof start !== 'number' || typeof end !== 'number') return undefined
    return listNeighbouringPassages(this.database, this.#dependencies.indexes, document_id, { start, end })
  }

  /** Returns the descriptions of the sources that have any. */
  async getDescriptions(sourceIds: readonly string[]): Promise<Map<string, SourceDescriptions>> {
    return getSourceDescriptions(this.database, sourceIds)
  }

  async search(request: PassageQuery): Promise<Static<typeof SearchResult>> {
    return this.#dependencies.search.search(request)
  }

  /** Returns for each quote whether its document exists and still contains it. */
  async verifyQuotes(reader: DatabaseReader, quotes: readonly Quote[]): Promise<boolean[]> {
    return this.#quoteVerifier.verify(reader, quotes)
  }

  /** Registers the indexes that a tool needs, in the transaction that saves the tool. */
  async claimIndexes(transaction: Transaction, toolId: string, sourceIds: readonly string[], settings: IndexSettings): Promise<void> {
    const before = await this.#dependencies.indexes.claim(transaction, toolId, sourceIds, settings)
    this.#refreshInBackground(before.filter((id) => !sourceIds.includes(id)))
  }

  async releaseIndexes(transaction: Transaction, toolId: string): Promise<void> {
    this.#refreshInBackground(await removeIndexUser(transaction, toolId))
  }

  /** Replaces all indexes of an embedding model, in the transaction that changes the model. */
  async rebuildIndexes(transaction: Transaction, embeddingModel: string): Promise<void> {
    const outdated = await this.#dependencies.indexes.replaceIndexes(transaction, embeddingModel)
    for (const index of outdated) this.#rebuildIndex(index).catch(() => undefined) // the daemon is stopping; the next start rebuilds it
  }

  /** Writes after the caller's transaction. Drops the old index last, because a running sync may still write to it. */
  async #rebuildIndex(index: Index): Promise<void> {
    const { synchronizer, indexes } = this.#dependencies
    await synchronizer.start(index.knowledge_source_id, 'indexes')
    await synchronizer.waitUntilIdle(index.knowledge_source_id)
    if (!(await indexes.allExist(this.database, [index]))) await indexes.drop(this.database, index)
  }

  /** Drops unused indexes, after the caller's transaction. Harmless if that is rolled back. */
  #refreshInBackground(sourceIds: readonly string[]): void {
    this.refreshIndexes(sourceIds).catch(() => undefined) // the daemon is stopping; the next sync drops them
  }

  /** Starts to update the indexes of sources from their stored documents. */
  async refreshIndexes(sourceIds: readonly string[]): Promise<void> {
    for (const id of sourceIds) await this.#dependencies.synchronizer.start(id, 'indexes')
  }

  /** Streams the progress of the running sync, then the final state of the source. Throws before the stream if the source is missing. */
  async streamSyncEvents(caller: Caller, id: string): Promise<AsyncIterable<StreamEvent>> {
    await this.require(this.database, caller, id)
    return this.#generateSyncEvents(caller, id)
  }

  async *#generateSyncEvents(caller: Caller, id: string): AsyncGenerator<StreamEvent> {
    const { synchronizer } = this.#dependencies
    let source: SourceView
    let delay = MIN_POLL_INTERVAL_MS
    for (;;) {
      for await (const progress of this.#followProgress(id)) yield { event: 'progress', data: progress }
      source = await this.get(caller, id)
      if (source.status !== 'syncing' || synchronizer.isClosing) break
      if (source.progress) yield { event: 'progress', data: source.progress } // of another daemon
      await pause(delay)
      delay = Math.min(2 * delay, MAX_POLL_INTERVAL_MS)
    }
    const isInterrupted = source.status === 'syncing'
    if (source.status === 'error') yield { event: 'error', data: { error: source.error, code: 'UNAVAILABLE' } }
    else if (isInterrupted)
      yield { event: 'error', data: { error: 'The daemon is stopping; the sync resumes when it starts again.', code: 'UNAVAILABLE' } }
    else yield { event: 'sync_end', data: { ...source, changes: await this.#getChanges(id) } }
  }

  /** A daemon stores the changes of its sync soon after the status of the source. */
  async #getChanges(id: string) {
    const { progress, syncLeases } = this.#dependencies
    await Promise.race([syncLeases.waitUntilIdle(id), pause(2 * MAX_POLL_INTERVAL_MS, undefined, { ref: false })])
    return (await syncLeases.readState(this.database, id))?.changes ?? progress.getChanges(id)
  }

  /** Yields the latest progress; a slow reader skips intermediate states. */
  async *#followProgress(id: string): AsyncGenerator<Progress> {
    const { progress } = this.#dependencies
    let latest = progress.get(id)
    let ended = latest === undefined
    let wake = () => {}
    const unsubscribe = progress.subscribe(id, (next) => {
      if (next) latest = next
      else ended = true
      wake()
    })
    try {
      for (;;) {
        const current = latest
        latest = undefined
        if (current) yield current
        if (latest !== undefined) continue
        if (ended) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      unsubscribe()
    }
  }
}
