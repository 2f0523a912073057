/** Service for knowledge sources: CRUD, syncs, indexes of tools and search. */
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { CadreError } from '../../src/contract/errors.ts'
import { type KnowledgeSource, knowledgeSources } from '../../src/contract/families/knowledge-sources.ts'
import type { StreamEvent } from '../../src/contract/route.ts'
import type { SearchResult } from '../../src/contract/schemas/passages.ts'
import { removeRepositoryCredentials } from '../../src/contract/url-credentials.ts'
import type { Caller } from '../core/caller.ts'
import { Resource } from '../crud/resource.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import type { OriginalStore } from '../store/original-store.ts'
import type { Validator } from '../validation/validator.ts'
import type { IndexRegistry } from './indexes/index-registry.ts'
import { type Index, type IndexSettings, listIndexes } from './indexes/index-store.ts'
import { releaseOriginal } from './release-original.ts'
import type { PassageSearch, SearchRequest } from './search/passage-search.ts'
import { type Quote, QuoteVerifier } from './search/quote-verifier.ts'
import { countDocuments, getSourceDescriptions, type SourceDescriptions } from './search/search-store.ts'
import { applyAuth, openAuth, type SourceInput } from './source-auth.ts'
import { deleteDocuments, getStatistics, listContentHashes, type StoredSource, sourceRecords } from './store.ts'
import type { Progress, ProgressTracker } from './sync/progress-tracker.ts'
import type { SyncLeases } from './sync/sync-leases.ts'
import type { SyncTriggers } from './sync/sync-triggers.ts'
import type { Synchronizer } from './sync/synchronizer.ts'
import { validateConfiguration } from './validate-configuration.ts'
import { validateFolders } from './validate-folders.ts'

/** Between the upload of a document and the start of its sync, the status is already stored. */
const STARTING_SYNC_POLL_MS = 20
const OTHER_SYNC_POLL_MS = 500

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
  /** Only if several daemons share the database. */
  others: SyncLeases | undefined
}

export class KnowledgeService extends Resource<StoredSource, SourceInput, SourceView> {
  readonly #dependencies: KnowledgeServiceDependencies
  readonly #quoteVerifier: QuoteVerifier

  constructor(dependencies: KnowledgeServiceDependencies) {
    const { database, vault, originals, validator, indexes, synchronizer, triggers, progress, others } = dependencies
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
          progress.get(source.id) ?? (source.status === 'syncing' ? await others?.readState(reader, source.id) : null)?.progress ?? null,
      }),
      afterSave: async (source) => {
        if (!(await others?.delegate(source.id, 'configure'))) triggers.register(source)
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
    this.#quoteVerifier = new QuoteVerifier(indexes)
  }

  /** Starts a sync and returns immediately. */
  async sync(caller: Caller, id: string): Promise<SourceView> {
    await this.require(this.database, caller, id)
    await this.#dependencies.synchronizer.start(id)
    return this.get(caller, id)
  }

  async cancelSync(caller: Caller, id: string): Promise<string> {
    await this.require(this.database, caller, id)
    if (!(await this.#dependencies.synchronizer.cancel(id))) throw new CadreError('CONFLICT', 'No sync is running for this source.')
    return 'The sync was cancelled.'
  }

  /** Describes the current state of a source, for the record of an evaluation run. */
  async describe(reader: Reader, id: string) {
    const source = await sourceRecords.get(reader, id)
    if (!source) return undefined
    const { documents, chunks } = await getStatistics(reader, id)
    return { id, name: source.name, last_sync: source.last_sync, documents, chunks }
  }

  /** Returns the number of documents of each source. */
  async countDocuments(sourceIds: readonly string[]): Promise<Map<string, number>> {
    const counts = sourceIds.map(async (id) => [id, await countDocuments(this.database, [id])] as const)
    return new Map(await Promise.all(counts))
  }

  /** Returns the descriptions of the sources that have any. */
  async getDescriptions(sourceIds: readonly string[]): Promise<Map<string, SourceDescriptions>> {
    return getSourceDescriptions(this.database, sourceIds)
  }

  async search(request: SearchRequest): Promise<Static<typeof SearchResult>> {
    return this.#dependencies.search.search(request)
  }

  /** Returns for each quote whether its document exists and still contains it. */
  async verifyQuotes(reader: Reader, quotes: readonly Quote[]): Promise<boolean[]> {
    return this.#quoteVerifier.verify(reader, quotes)
  }

  /** Registers the indexes that a tool needs, in the transaction that saves the tool. */
  async claimIndexes(transaction: Transaction, toolId: string, sourceIds: readonly string[], settings: IndexSettings): Promise<void> {
    const before = await this.#dependencies.indexes.claim(transaction, toolId, sourceIds, settings)
    this.#refreshInBackground(before.filter((id) => !sourceIds.includes(id)))
  }

  async releaseIndexes(transaction: Transaction, toolId: string): Promise<void> {
    this.#refreshInBackground(await this.#dependencies.indexes.release(transaction, toolId))
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
    const { synchronizer, others } = this.#dependencies
    let source: SourceView
    for (;;) {
      for await (const progress of this.#followProgress(id)) yield { event: 'progress', data: progress }
      source = await this.get(caller, id)
      if (source.status !== 'syncing' || synchronizer.isClosing) break
      if (source.progress) yield { event: 'progress', data: source.progress } // of another daemon
      await pause(others ? OTHER_SYNC_POLL_MS : STARTING_SYNC_POLL_MS)
    }
    const isInterrupted = source.status === 'syncing'
    if (source.status === 'error') yield { event: 'error', data: { error: source.error, code: 'UNAVAILABLE' } }
    else if (isInterrupted)
      yield { event: 'error', data: { error: 'The daemon is stopping; the sync resumes when it starts again.', code: 'UNAVAILABLE' } }
    else yield { event: 'sync_end', data: { ...source, changes: await this.#getChanges(id) } }
  }

  /** A daemon stores the changes of its sync soon after the status of the source. */
  async #getChanges(id: string) {
    const { progress, others } = this.#dependencies
    if (!others) return progress.getChanges(id)
    await Promise.race([others.waitUntilIdle(id), pause(2 * OTHER_SYNC_POLL_MS, undefined, { ref: false })])
    return (await others.readState(this.database, id))?.changes ?? progress.getChanges(id)
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
