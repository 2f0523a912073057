/** Writes passages to an index so that a kill at any moment leaves no duplicate and no missing rows. */
import type { PassageRow } from '../../store/arrow.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { PassageTable } from '../../store/passage-table.ts'
import type { IndexRegistry } from '../indexes/index-registry.ts'
import {
  type Batch,
  beginBatch,
  countExpectedRows,
  endBatch,
  forgetAllDocuments,
  forgetDocument,
  type Index,
  type IndexSide,
  recordDocument,
} from '../indexes/index-store.ts'
import { listPendingVectors } from './sync-store.ts'

export interface DocumentRows {
  documentId: string
  contentHash: string
  rows: PassageRow[]
}

/** Converting more rows for LanceDB at once would block the event loop; a large document takes several commits. */
const MAX_ROWS_PER_COMMIT = 2_500

export class IndexWriter {
  readonly #database: Database
  readonly #indexes: IndexRegistry

  constructor(database: Database, indexes: IndexRegistry) {
    this.#database = database
    this.#indexes = indexes
  }

  /**
   * Replaces the passages of documents. New rows are added before old ones are removed; the database records the documents
   * last, in one transaction with `also`.
   */
  async write(
    index: Index,
    side: IndexSide,
    documents: readonly DocumentRows[],
    also?: (transaction: Transaction) => Promise<void>,
  ): Promise<void> {
    if (documents.length === 0) return
    const table = side === 'text' ? this.#indexes.getTextTable(index) : this.#indexes.getVectorTable(index)
    const ids = documents.map(({ documentId }) => documentId)
    const generation = await this.#beginBatch(index, side, ids)
    const rows = documents.flatMap((document) => document.rows)
    for (let from = 0; from < rows.length; from += MAX_ROWS_PER_COMMIT)
      await table.add(rows.slice(from, from + MAX_ROWS_PER_COMMIT).map((row) => ({ ...row, generation })))
    await table.remove({ document_id: ids, generation: { below: generation } })
    await this.#database.write(async (transaction) => {
      for (const { documentId, contentHash, rows } of documents)
        await recordDocument(transaction, index.id, side, { documentId, contentHash, chunks: rows.length })
      await also?.(transaction)
      await endBatch(transaction, index.id)
    })
  }

  async erase(index: Index, documentIds: readonly string[]): Promise<void> {
    if (documentIds.length === 0) return
    await this.#beginBatch(index, 'text', [...documentIds])
    await this.#remove(index, 'text', documentIds)
  }

  /** Undoes an interrupted batch and resets an index whose tables lost rows. Returns false if the index must be rebuilt in part. */
  async repair(index: Index): Promise<boolean> {
    if (index.batch === null) return this.#verifyRowCounts(index)
    const { side, documents } = JSON.parse(index.batch) as Batch
    try {
      await this.#remove(index, side, documents)
      await this.#verifyRowCounts(index)
    } catch {
      await this.#reset(index, side) // the table cannot be opened
    }
    return false
  }

  /** Removes the old and new rows of documents, then ends the batch. Removing text removes vectors, too. */
  async #remove(index: Index, side: IndexSide, documentIds: readonly string[]): Promise<void> {
    if (side === 'text') await this.#indexes.getTextTable(index).remove({ document_id: documentIds })
    await this.#indexes.getVectorTable(index).remove({ document_id: documentIds })
    await this.#database.write(async (transaction) => {
      for (const id of documentIds) await forgetDocument(transaction, index.id, side, id)
      await endBatch(transaction, index.id)
    })
  }

  /** LanceDB never calls fsync, and a damaged manifest can open as an empty table: compares row counts and resets what lost rows. */
  async #verifyRowCounts(index: Index): Promise<boolean> {
    const expected = await countExpectedRows(this.#database, index.id)
    const [text, vectors] = [this.#indexes.getTextTable(index), this.#indexes.getVectorTable(index)]
    const damaged = !(await hasRowCount(text, expected.text))
      ? 'text'
      : !(await hasRowCount(vectors, expected.vectors)) && !(await this.#removeOutdatedVectors(index, expected.vectors))
        ? 'vectors'
        : undefined
    if (damaged) await this.#reset(index, damaged)
    else for (const table of [text, vectors]) await table.repairIndices()
    return damaged === undefined
  }

  /** A document that was read again keeps its old vectors until it has new ones. These extra rows are no damage. */
  async #removeOutdatedVectors(index: Index, expected: number): Promise<boolean> {
    const vectors = this.#indexes.getVectorTable(index)
    const pending = await listPendingVectors(this.#database, index.id)
    try {
      await vectors.remove({ document_id: pending.map(({ document_id }) => document_id) })
    } catch {
      return false // the table cannot be opened
    }
    return hasRowCount(vectors, expected)
  }

  async #reset(index: Index, side: IndexSide): Promise<void> {
    await this.#database.write((transaction) => forgetAllDocuments(transaction, index.id, side))
    if (side === 'text') await this.#indexes.clear(index, 'text')
    await this.#indexes.clear(index, 'vectors')
  }

  async #beginBatch(index: Index, side: IndexSide, documents: string[]): Promise<number> {
    return this.#database.write((transaction) => beginBatch(transaction, index.id, side, documents))
  }
}

async function hasRowCount(table: PassageTable, expected: number): Promise<boolean> {
  try {
    return (await table.countReadableRows()) === expected
  } catch {
    return false // the table cannot be opened
  }
}
