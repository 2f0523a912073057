/** Manages indexes: one for each combination of source, embedding model and chunking, shared by the tools that use it. */
import { DEFAULT_CHUNKING } from '../../../src/contract/schemas/passages.ts'
import type { Database, DatabaseReader, Transaction } from '../../store/database.ts'
import type { PassageTable } from '../../store/passage-table.ts'
import type { VectorStore } from '../../store/vector-store.ts'
import {
  addIndexUser,
  deleteIndex,
  deleteOrphans,
  type Index,
  type IndexSettings,
  type IndexSide,
  indexExists,
  insertIndex,
  isCurrentIndex,
  listAllIndexes,
  listIndexes,
  listIndexesByModel,
  listIndexUsers,
  listIndexVersions,
  listOrphanedIndexes,
  listUsedIndexIds,
  moveIndexUsers,
  removeIndexUser,
} from './index-store.ts'

const COMMON_COLUMNS = { id: 'text', document_id: 'text', generation: 'integer', page: 'integer' } as const
const PLACE_COLUMNS = { position: 'integer', start_at: 'integer', end_at: 'integer' } as const
const TEXT_COLUMNS = { ...COMMON_COLUMNS, ...PLACE_COLUMNS, headings: 'text', content: 'text', words: 'text' } as const
const VECTOR_COLUMNS = { ...COMMON_COLUMNS, vector: 'vector' } as const

export class IndexRegistry {
  readonly #vectors: VectorStore

  constructor(vectors: VectorStore) {
    this.#vectors = vectors
  }

  /** Registers the indexes that a tool uses, in the transaction that saves the tool. Returns the sources it used before. */
  async claim(transaction: Transaction, userId: string, sourceIds: readonly string[], settings: IndexSettings): Promise<string[]> {
    const before = await removeIndexUser(transaction, userId)
    for (const sourceId of sourceIds) {
      const index = await this.ensure(transaction, sourceId, settings)
      await addIndexUser(transaction, index.id, userId)
    }
    return before
  }

  async ensure(transaction: Transaction, sourceId: string, settings: IndexSettings): Promise<Index> {
    const versions = await listIndexVersions(transaction, sourceId, settings)
    return versions.find(isCurrentIndex) ?? insertIndex(transaction, sourceId, settings)
  }

  async allExist(reader: DatabaseReader, indexes: readonly Index[]): Promise<boolean> {
    for (const { id } of indexes) if (!(await indexExists(reader, id))) return false
    return true
  }

  /**
   * Returns the indexes that a source needs: those its tools use, or else the default one. Drops unused indexes once the
   * needed ones are complete.
   */
  async reconcile(database: Database, sourceId: string): Promise<Index[]> {
    const { needed, unused } = await database.write(async (transaction) => {
      const orphans = await this.#replaceOrphans(transaction, sourceId)
      await this.#replaceOutdated(transaction, sourceId)
      const used = await listUsedIndexIds(transaction, sourceId)
      if (used.length === 0) await this.ensure(transaction, sourceId, DEFAULT_CHUNKING)
      const all = await listIndexes(transaction, sourceId)
      const isNeeded = (index: Index) => (used.length === 0 ? isDefaultIndex(index) : used.includes(index.id))
      const needed = all.filter(isNeeded)
      const isComplete = needed.every(({ ready }) => ready === 1)
      const unused = isComplete ? all.filter((index) => !isNeeded(index)) : orphans
      // In the same transaction: a tool could claim one of them in between.
      for (const index of unused) await deleteIndex(transaction, index.id)
      return { needed, unused }
    })
    for (const index of unused) await this.#dropTables(index)
    return needed
  }

  /** Moves the users of indexes whose embedding model was deleted by force to an index of the default model. Returns the old indexes. */
  async #replaceOrphans(transaction: Transaction, sourceId: string): Promise<Index[]> {
    const orphans = await listOrphanedIndexes(transaction, sourceId)
    for (const index of orphans) {
      const successor = await this.ensure(transaction, sourceId, { ...index, embedding_model: DEFAULT_CHUNKING.embedding_model })
      await moveIndexUsers(transaction, index.id, successor.id)
    }
    return orphans
  }

  /** Moves the users of indexes of an older version to new ones. The old ones answer queries until the new ones are complete. */
  async #replaceOutdated(transaction: Transaction, sourceId: string): Promise<void> {
    for (const index of await listIndexes(transaction, sourceId)) {
      if (isCurrentIndex(index)) continue
      if ((await listIndexUsers(transaction, index.id)).length === 0) continue
      await moveIndexUsers(transaction, index.id, (await this.ensure(transaction, sourceId, index)).id)
    }
  }

  /** Replaces each index of a model with an empty one, because the changed model cannot use the old vectors. Returns the old indexes. */
  async replaceIndexes(transaction: Transaction, embeddingModel: string): Promise<Index[]> {
    const outdated = await listIndexesByModel(transaction, embeddingModel)
    for (const index of outdated) {
      const users = await listIndexUsers(transaction, index.id)
      await deleteIndex(transaction, index.id)
      const { id } = await this.ensure(transaction, index.knowledge_source_id, index)
      for (const user of users) await addIndexUser(transaction, id, user)
    }
    return outdated
  }

  async drop(database: Database, index: Index): Promise<void> {
    await database.write((transaction) => deleteIndex(transaction, index.id))
    await this.#dropTables(index)
  }

  async #dropTables({ id }: Index): Promise<void> {
    await this.#vectors.drop(`${id}-text`)
    await this.#vectors.drop(`${id}-vectors`)
  }

  /** Whether the tables are in a bucket, which does not lose files after a power cut. */
  get isDurable(): boolean {
    return this.#vectors.isRemote
  }

  /** Whether the tables are as the last daemon left them when it stopped, so that they need no check. */
  get areUnchanged(): boolean {
    return this.#vectors.isUnchanged
  }

  async clear({ id }: Index, side: IndexSide): Promise<void> {
    await this.#vectors.drop(`${id}-${side}`)
  }

  getTextTable({ id }: Pick<Index, 'id'>): PassageTable {
    return this.#vectors.table(`${id}-text`, { columns: TEXT_COLUMNS, keys: ['id', 'document_id'], fullTextColumn: 'words' })
  }

  getVectorTable({ id }: Index): PassageTable {
    return this.#vectors.table(`${id}-vectors`, { columns: VECTOR_COLUMNS, keys: ['document_id'] })
  }

  /** Removes indexes of deleted sources and tables of deleted indexes that a crash left behind. */
  async sweep(database: Database): Promise<void> {
    await database.write(deleteOrphans)
    // Listed before the indexes: another daemon may add an index, and then its tables.
    const names = await this.#vectors.listNames()
    const known = new Set((await listAllIndexes(database)).map(({ id }) => id))
    for (const name of names) if (/^idx_/.test(name) && !known.has(name.replace(/-(text|vectors)$/, ''))) await this.#vectors.drop(name)
  }
}

const isDefaultIndex = (index: Index): boolean =>
  isCurrentIndex(index) &&
  index.embedding_model === DEFAULT_CHUNKING.embedding_model &&
  index.chunk_size === DEFAULT_CHUNKING.chunk_size &&
  index.chunk_overlap === DEFAULT_CHUNKING.chunk_overlap
