/** Knowledge sources: where documents come from, and keeping up with them. */
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
import type { Originals } from '../store/documents.ts'
import type { Validator } from '../validation/validator.ts'
import type { IndexRegistry } from './indexes/index-registry.ts'
import { type Index, type IndexSettings, listIndexes } from './indexes/index-store.ts'
import type { PassageSearch, SearchRequest } from './search/passage-search.ts'
import { type Quote, QuoteVerifier } from './search/quote-verifier.ts'
import { applyAuth, openAuth, type SourceInput } from './source-auth.ts'
import { deleteDocuments, getStatistics, isContentInUse, listContentHashes, type StoredSource, sourceRecords } from './store.ts'
import type { Progress, ProgressTracker } from './sync/progress-tracker.ts'
import type { SyncTriggers } from './sync/sync-triggers.ts'
import type { Synchronizer } from './sync/synchronizer.ts'
import { validateConfiguration } from './validate-configuration.ts'

type SourceView = Static<typeof KnowledgeSource>

export interface KnowledgeServiceDependencies {
  database: Database
  vault: Vault
  originals: Originals
  validator: Validator
  indexes: IndexRegistry
  synchronizer: Synchronizer
  triggers: SyncTriggers
  progress: ProgressTracker
  search: PassageSearch
}

export class KnowledgeService extends Resource<StoredSource, SourceInput, SourceView> {
  readonly #dependencies: KnowledgeServiceDependencies
  readonly #quoteVerifier: QuoteVerifier

  constructor(parts: KnowledgeServiceDependencies) {
    // Originals of sources that were deleted, until they are released.
    const unused = new Map<string, string[]>()
    super(parts.database, knowledgeSources, sourceRecords, {
      prepare: async (record, given, { caller, current }) => {
        // An editor may send back what an admin set.
        if (current === undefined || !isDeepStrictEqual(record.configuration, current.configuration))
          validateConfiguration(parts.validator, caller, record)
        return applyAuth(parts.vault, record, given, caller, current)
      },
      openSecrets: (source) => ({ auth: openAuth(parts.vault, source) }),
      toView: async (reader, { version: _, secrets: __, ...shown }) => ({
        ...shown,
        configuration: removeRepositoryCredentials(shown.configuration),
        statistics: await getStatistics(reader, shown.id),
        followProgress: parts.progress.get(shown.id) ?? null,
      }),
      afterSave: (source) => parts.triggers.register(source),
      beforeRemove: async (transaction, { id }) => {
        unused.set(id, await listContentHashes(transaction, id))
        await deleteDocuments(transaction, id)
      },
      afterRemove: async ({ id }) => {
        const { database, triggers: automation, synchronizer, indexes, originals } = parts
        automation.disarm(id)
        await synchronizer.forgetSource(id)
        for (const index of await listIndexes(database, id)) await indexes.drop(database, index)
        for (const contentHash of unused.get(id) ?? []) await originals.release(contentHash, () => isContentInUse(database, contentHash))
        unused.delete(id)
      },
    })
    this.#dependencies = parts
    this.#quoteVerifier = new QuoteVerifier(parts.indexes)
  }

  /** Starts a synchronization and answers at once. */
  async sync(caller: Caller, id: string): Promise<SourceView> {
    await this.require(this.database, caller, id)
    await this.#dependencies.synchronizer.start(id)
    return this.get(caller, id)
  }

  async cancelSync(caller: Caller, id: string): Promise<string> {
    await this.require(this.database, caller, id)
    if (!(await this.#dependencies.synchronizer.cancel(id))) throw new CadreError('CONFLICT', 'Nothing is being synchronized.')
    return 'The synchronization was cancelled.'
  }

  /** Which state of a source something was done with. */
  async describe(
    reader: Reader,
    id: string,
  ): Promise<{ id: string; name: string; last_sync: string | null; documents: number; chunks: number } | undefined> {
    const source = await sourceRecords.get(reader, id)
    if (!source) return undefined
    const { documents, chunks } = await getStatistics(reader, id)
    return { id, name: source.name, last_sync: source.last_sync, documents, chunks }
  }

  /** Finds passages; what RAG and retrieval tools are made of. */
  async search(request: SearchRequest): Promise<Static<typeof SearchResult>> {
    return this.#dependencies.search.search(request)
  }

  /** For each quotation, whether its document is there and still holds it. */
  async verifyQuotes(reader: Reader, quotations: readonly Quote[]): Promise<boolean[]> {
    return this.#quoteVerifier.verify(reader, quotations)
  }

  /** Says which sources a tool reads and how they are to be cut and embedded for it, in the transaction that saves the tool. */
  async claimIndexes(transaction: Transaction, toolId: string, sourceIds: readonly string[], settings: IndexSettings): Promise<void> {
    const before = await this.#dependencies.indexes.claim(transaction, toolId, sourceIds, settings)
    this.#refreshInBackground(before.filter((id) => !sourceIds.includes(id)))
  }

  async releaseIndexes(transaction: Transaction, toolId: string): Promise<void> {
    this.#refreshInBackground(await this.#dependencies.indexes.release(transaction, toolId))
  }

  /** Embeds again what a model embedded that is another now, in the transaction that makes it so. */
  async rebuildIndexes(transaction: Transaction, embeddingModel: string): Promise<void> {
    const outdated = await this.#dependencies.indexes.replaceIndexes(transaction, embeddingModel)
    for (const index of outdated) this.#rebuildIndex(index).catch(() => undefined) // the daemon is stopping; the next start does it
  }

  /** What it writes waits for the transaction it is called in. A synchronization under way may still write to the old index. */
  async #rebuildIndex(index: Index): Promise<void> {
    const { synchronizer, indexes } = this.#dependencies
    await synchronizer.start(index.knowledge_source_id, 'indexes')
    await synchronizer.waitUntilIdle(index.knowledge_source_id)
    if (!(await indexes.allExist(this.database, [index]))) await indexes.drop(this.database, index)
  }

  /** Drops what nobody uses any more. What it writes waits for the transaction it is called in, and says nothing that is not so if that fails. */
  #refreshInBackground(sourceIds: readonly string[]): void {
    this.refreshIndexes(sourceIds).catch(() => undefined) // the daemon is stopping; the next synchronization does it
  }

  /** Brings the indexes of sources up to date, in the background. */
  async refreshIndexes(sourceIds: readonly string[]): Promise<void> {
    for (const id of sourceIds) await this.#dependencies.synchronizer.start(id, 'indexes')
  }

  /** Progress as it is made, then the source as it ended up. A source that is not there is an answer, not an event. */
  async generateSyncEvents(caller: Caller, id: string): Promise<AsyncIterable<StreamEvent>> {
    await this.require(this.database, caller, id)
    return this.#syncEvents(caller, id)
  }

  async *#syncEvents(caller: Caller, id: string): AsyncGenerator<StreamEvent> {
    for await (const progress of this.#progress(id)) yield { event: 'progress', data: progress }
    const source = await this.get(caller, id)
    if (source.status === 'error') yield { event: 'error', data: { error: source.error, code: 'UNAVAILABLE' } }
    else if (source.status === 'syncing' && source.followProgress === null)
      yield {
        event: 'error',
        data: { error: 'The daemon is stopping; it goes on with the synchronization when it is started again.', code: 'UNAVAILABLE' },
      }
    else yield { event: 'sync_end', data: { ...source, changes: this.#dependencies.progress.changes(id) } }
  }

  /** The newest state each time the reader is ready for one; what it was too slow for is left out. */
  async *#progress(id: string): AsyncGenerator<Progress> {
    const { progress } = this.#dependencies
    let latest = progress.get(id)
    let ended = latest === undefined
    let wake = () => {}
    const stop = progress.subscribe(id, (next) => {
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
      stop()
    }
  }
}
