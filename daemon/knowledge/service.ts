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
import { type Index, type IndexSettings, indexesOf } from './indexes/index-store.ts'
import type { Indexes } from './indexes/indexes.ts'
import type { Search, SearchRequest } from './search/search.ts'
import { type Quotation, Quotations } from './search/verify-quotes.ts'
import { openAuth, type SourceInput, withAuth } from './source-auth.ts'
import { checkConfiguration } from './source-configuration.ts'
import { deleteDocumentsOf, hashesOf, hashInUse, type StoredSource, sourceRecords, statisticsOf } from './store.ts'
import type { Progress, ProgressBoard } from './sync/progress.ts'
import type { Synchronizer } from './sync/synchronizer.ts'
import type { Automation } from './sync/triggers.ts'

type ShownSource = Static<typeof KnowledgeSource>

export interface KnowledgeParts {
  database: Database
  vault: Vault
  originals: Originals
  validator: Validator
  indexes: Indexes
  synchronizer: Synchronizer
  automation: Automation
  progress: ProgressBoard
  search: Search
}

export class KnowledgeService extends Resource<StoredSource, SourceInput, ShownSource> {
  readonly #parts: KnowledgeParts
  readonly #quotations: Quotations

  constructor(parts: KnowledgeParts) {
    // Originals of sources that were deleted, until they are released.
    const unused = new Map<string, string[]>()
    super(parts.database, knowledgeSources, sourceRecords, {
      prepare: async (record, given, { caller, current }) => {
        // An editor may send back what an admin set.
        if (current === undefined || !isDeepStrictEqual(record.configuration, current.configuration))
          checkConfiguration(parts.validator, caller, record)
        return withAuth(parts.vault, record, given, caller, current)
      },
      openSecrets: (source) => ({ auth: openAuth(parts.vault, source) }),
      toView: async (reader, { version: _, secrets: __, ...shown }) => ({
        ...shown,
        configuration: removeRepositoryCredentials(shown.configuration),
        statistics: await statisticsOf(reader, shown.id),
        progress: parts.progress.of(shown.id) ?? null,
      }),
      afterSave: (source) => parts.automation.arm(source),
      beforeRemove: async (transaction, { id }) => {
        unused.set(id, await hashesOf(transaction, id))
        await deleteDocumentsOf(transaction, id)
      },
      afterRemove: async ({ id }) => {
        const { database, automation, synchronizer, indexes, originals } = parts
        automation.disarm(id)
        await synchronizer.forget(id)
        for (const index of await indexesOf(database, id)) await indexes.drop(database, index)
        for (const contentHash of unused.get(id) ?? []) await originals.release(contentHash, () => hashInUse(database, contentHash))
        unused.delete(id)
      },
    })
    this.#parts = parts
    this.#quotations = new Quotations(parts.indexes)
  }

  /** Starts a synchronization and answers at once. */
  async sync(caller: Caller, id: string): Promise<ShownSource> {
    await this.require(this.database, caller, id)
    await this.#parts.synchronizer.start(id)
    return this.get(caller, id)
  }

  async cancelSync(caller: Caller, id: string): Promise<string> {
    await this.require(this.database, caller, id)
    if (!(await this.#parts.synchronizer.cancel(id))) throw new CadreError('CONFLICT', 'Nothing is being synchronized.')
    return 'The synchronization was cancelled.'
  }

  /** Which state of a source something was done with. */
  async described(
    reader: Reader,
    id: string,
  ): Promise<{ id: string; name: string; last_sync: string | null; documents: number; chunks: number } | undefined> {
    const source = await sourceRecords.get(reader, id)
    if (!source) return undefined
    const { documents, chunks } = await statisticsOf(reader, id)
    return { id, name: source.name, last_sync: source.last_sync, documents, chunks }
  }

  /** Finds passages; what RAG and retrieval tools are made of. */
  async search(request: SearchRequest): Promise<Static<typeof SearchResult>> {
    return this.#parts.search.search(request)
  }

  /** For each quotation, whether its document is there and still holds it. */
  async stand(reader: Reader, quotations: readonly Quotation[]): Promise<boolean[]> {
    return this.#quotations.stand(reader, quotations)
  }

  /** Says which sources a tool reads and how they are to be cut and embedded for it, in the transaction that saves the tool. */
  async claim(transaction: Transaction, toolId: string, sourceIds: readonly string[], settings: IndexSettings): Promise<void> {
    const before = await this.#parts.indexes.claim(transaction, toolId, sourceIds, settings)
    this.#tidy(before.filter((id) => !sourceIds.includes(id)))
  }

  async release(transaction: Transaction, toolId: string): Promise<void> {
    this.#tidy(await this.#parts.indexes.release(transaction, toolId))
  }

  /** Embeds again what a model embedded that is another now, in the transaction that makes it so. */
  async embedAgain(transaction: Transaction, embeddingModel: string): Promise<void> {
    const outdated = await this.#parts.indexes.renew(transaction, embeddingModel)
    for (const index of outdated) this.#replace(index).catch(() => undefined) // the daemon is stopping; the next start does it
  }

  /** What it writes waits for the transaction it is called in. A synchronization under way may still write to the old index. */
  async #replace(index: Index): Promise<void> {
    const { synchronizer, indexes } = this.#parts
    await synchronizer.start(index.knowledge_source_id, 'indexes')
    await synchronizer.idle(index.knowledge_source_id)
    if (!(await indexes.stand(this.database, [index]))) await indexes.drop(this.database, index)
  }

  /** Drops what nobody uses any more. What it writes waits for the transaction it is called in, and says nothing that is not so if that fails. */
  #tidy(sourceIds: readonly string[]): void {
    this.refresh(sourceIds).catch(() => undefined) // the daemon is stopping; the next synchronization does it
  }

  /** Brings the indexes of sources up to date, in the background. */
  async refresh(sourceIds: readonly string[]): Promise<void> {
    for (const id of sourceIds) await this.#parts.synchronizer.start(id, 'indexes')
  }

  /** Progress as it is made, then the source as it ended up. A source that is not there is an answer, not an event. */
  async syncEvents(caller: Caller, id: string): Promise<AsyncIterable<StreamEvent>> {
    await this.require(this.database, caller, id)
    return this.#syncEvents(caller, id)
  }

  async *#syncEvents(caller: Caller, id: string): AsyncGenerator<StreamEvent> {
    for await (const progress of this.#progress(id)) yield { event: 'progress', data: progress }
    const source = await this.get(caller, id)
    if (source.status === 'error') yield { event: 'error', data: { error: source.error, code: 'UNAVAILABLE' } }
    else if (source.status === 'syncing' && source.progress === null)
      yield {
        event: 'error',
        data: { error: 'The daemon is stopping; it goes on with the synchronization when it is started again.', code: 'UNAVAILABLE' },
      }
    else yield { event: 'sync_end', data: { ...source, changes: this.#parts.progress.changes(id) } }
  }

  /** The newest state each time the reader is ready for one; what it was too slow for is left out. */
  async *#progress(id: string): AsyncGenerator<Progress> {
    const { progress } = this.#parts
    let latest = progress.of(id)
    let ended = latest === undefined
    let wake = () => {}
    const stop = progress.follow(id, (next) => {
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
