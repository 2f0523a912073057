/** Indexes: one for every way a knowledge source is cut and embedded, shared by the tools that agree on it. */
import { DEFAULT_CHUNKING } from '../../src/contract/passages.ts'
import { newId } from '../identifiers.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import type { PassageTable, Vectors } from '../store/vectors.ts'

export interface IndexSettings {
  embedding_model: string
  chunk_size: number
  chunk_overlap: number
}

export interface Index extends IndexSettings {
  id: string
  knowledge_source_id: string
  /** Whether it was complete once; until then another of the same source serves, if there is one. */
  ready: number
  generation: number
  /** What was being written when it was last heard of: undone at the next start. */
  batch: string | null
}

/** Rows that may be in a table without anybody having said that they are. */
export interface Batch {
  side: 'text' | 'vectors'
  generation: number
  documents: string[]
}

const TEXT_COLUMNS = {
  id: 'text',
  document_id: 'text',
  generation: 'integer',
  page: 'integer',
  position: 'integer',
  start_at: 'integer',
  end_at: 'integer',
  headings: 'text',
  content: 'text',
  words: 'text',
} as const

const VECTOR_COLUMNS = { id: 'text', document_id: 'text', generation: 'integer', page: 'integer', vector: 'vector' } as const

export class Indexes {
  readonly #vectors: Vectors

  constructor(vectors: Vectors) {
    this.#vectors = vectors
  }

  /** Says which indexes a tool uses, in the transaction that saves the tool. */
  async claim(transaction: Transaction, userId: string, sourceIds: readonly string[], settings: IndexSettings): Promise<void> {
    await this.release(transaction, userId)
    for (const sourceId of sourceIds) {
      const index = await this.ensure(transaction, sourceId, settings)
      await transaction.run('INSERT INTO index_users (index_id, user_id) VALUES (?, ?)', [index.id, userId])
    }
  }

  async release(transaction: Transaction, userId: string): Promise<void> {
    await transaction.run('DELETE FROM index_users WHERE user_id = ?', [userId])
  }

  async ensure(transaction: Transaction, sourceId: string, { embedding_model, chunk_size, chunk_overlap }: IndexSettings): Promise<Index> {
    const found = await this.find(transaction, sourceId, { embedding_model, chunk_size, chunk_overlap })
    if (found) return found
    const index: Index = { id: newId('idx'), knowledge_source_id: sourceId, embedding_model, chunk_size, chunk_overlap, ready: 0, generation: 0, batch: null }
    await transaction.run(
      'INSERT INTO indexes (id, knowledge_source_id, embedding_model, chunk_size, chunk_overlap, ready, generation, batch) VALUES (?, ?, ?, ?, ?, 0, 0, NULL)',
      [index.id, sourceId, embedding_model, chunk_size, chunk_overlap],
    )
    return index
  }

  async find(reader: Reader, sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    return reader.get<Index>('SELECT * FROM indexes WHERE knowledge_source_id = ? AND embedding_model = ? AND chunk_size = ? AND chunk_overlap = ?', [
      sourceId,
      settings.embedding_model,
      settings.chunk_size,
      settings.chunk_overlap,
    ])
  }

  async ofSource(reader: Reader, sourceId: string): Promise<Index[]> {
    return reader.all<Index>('SELECT * FROM indexes WHERE knowledge_source_id = ? ORDER BY id', [sourceId])
  }

  /** Whether none of these was dropped. */
  async stand(reader: Reader, indexes: readonly Index[]): Promise<boolean> {
    for (const { id } of indexes) if ((await reader.get('SELECT 1 AS found FROM indexes WHERE id = ?', [id])) === undefined) return false
    return true
  }

  /** The indexes a source needs: those its tools use, or the default one. Those that nobody uses any more go, once the others are complete. */
  async settle(database: Database, sourceId: string): Promise<Index[]> {
    const { wanted, unwanted } = await database.write(async (transaction) => {
      const used = await transaction.all<{ index_id: string }>(
        'SELECT DISTINCT index_id FROM index_users JOIN indexes ON indexes.id = index_id WHERE knowledge_source_id = ?',
        [sourceId],
      )
      if (used.length === 0) await this.ensure(transaction, sourceId, DEFAULT_CHUNKING)
      const all = await this.ofSource(transaction, sourceId)
      const needed = (index: Index) => (used.length === 0 ? isDefault(index) : used.some(({ index_id }) => index_id === index.id))
      const wanted = all.filter(needed)
      const complete = wanted.every(({ ready }) => ready === 1)
      return { wanted, unwanted: complete ? all.filter((index) => !needed(index)) : [] }
    })
    for (const index of unwanted) await this.drop(database, index)
    return wanted
  }

  async drop(database: Database, index: Index): Promise<void> {
    await database.write(async (transaction) => {
      await transaction.run('DELETE FROM index_documents WHERE index_id = ?', [index.id])
      await transaction.run('DELETE FROM index_users WHERE index_id = ?', [index.id])
      await transaction.run('DELETE FROM indexes WHERE id = ?', [index.id])
    })
    await this.#vectors.drop(`${index.id}-text`)
    await this.#vectors.drop(`${index.id}-vectors`)
  }

  /** Empties one side of an index. */
  async clear({ id }: Index, side: Batch['side']): Promise<void> {
    await this.#vectors.drop(`${id}-${side}`)
  }

  text({ id }: Index): PassageTable {
    return this.#vectors.table(`${id}-text`, { columns: TEXT_COLUMNS, keys: ['id', 'document_id'], words: 'words' })
  }

  vectors({ id }: Index): PassageTable {
    return this.#vectors.table(`${id}-vectors`, { columns: VECTOR_COLUMNS, keys: ['document_id'] })
  }

  /** Tables of indexes that are no more, left by a crash between the two stores. */
  async sweep(database: Database): Promise<void> {
    const known = new Set((await database.all<{ id: string }>('SELECT id FROM indexes')).map(({ id }) => id))
    for (const name of await this.#vectors.names()) if (/^idx_/.test(name) && !known.has(name.replace(/-(text|vectors)$/, ''))) await this.#vectors.drop(name)
  }
}

const isDefault = (index: Index): boolean =>
  index.embedding_model === DEFAULT_CHUNKING.embedding_model &&
  index.chunk_size === DEFAULT_CHUNKING.chunk_size &&
  index.chunk_overlap === DEFAULT_CHUNKING.chunk_overlap
