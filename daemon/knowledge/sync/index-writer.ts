/** Writing an index so that a kill at any moment leaves nothing doubled and nothing missing. */

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

/** As many as are turned into what LanceDB takes without holding up the event loop: a large document is more than one commit. */
const MAX_ROWS_PER_COMMIT = 2_500

export class IndexWriter {
  readonly #database: Database
  readonly #indexes: IndexRegistry

  constructor(database: Database, indexes: IndexRegistry) {
    this.#database = database
    this.#indexes = indexes
  }

  /** Replaces the passages of documents: the new ones are added before the old ones go, and only then are they said to be there, with whatever else is said of them. */
  async write(
    index: Index,
    side: IndexSide,
    documents: readonly DocumentRows[],
    also?: (transaction: Transaction) => Promise<void>,
  ): Promise<void> {
    if (documents.length === 0) return
    const table = side === 'text' ? this.#indexes.getTextTable(index) : this.#indexes.vectors(index)
    const ids = documents.map(({ documentId }) => documentId)
    const generation = await this.#beginBatch(index, side, ids)
    for (const rows of splitRows(documents)) await table.add(rows.map((row) => ({ ...row, generation })))
    await table.remove({ document_id: ids, generation: { below: generation } })
    await this.#database.write(async (transaction) => {
      for (const { documentId, contentHash, rows } of documents)
        await recordDocument(transaction, index.id, side, { documentId, contentHash, chunks: rows.length })
      await also?.(transaction)
      await endBatch(transaction, index.id)
    })
  }

  /** Takes documents out of an index. */
  async erase(index: Index, documentIds: readonly string[]): Promise<void> {
    if (documentIds.length === 0) return
    await this.#beginBatch(index, 'text', [...documentIds])
    await this.#remove(index, 'text', documentIds)
  }

  /** Undoes a batch that was cut short, and starts over on an index whose tables lost rows. False when something has to be made again. */
  async repair(index: Index): Promise<boolean> {
    if (index.batch === null) return this.#verifyRowCounts(index)
    const { side, documents } = JSON.parse(index.batch) as Batch
    try {
      await this.#remove(index, side, documents)
      await this.#verifyRowCounts(index)
    } catch {
      await this.#reset(index, side) // a table that cannot be opened cannot be mended
    }
    return false
  }

  /** Takes out what may be there of documents, old or new, and only then forgets that it was begun. Vectors do not outlive their text. */
  async #remove(index: Index, side: IndexSide, documentIds: readonly string[]): Promise<void> {
    if (side === 'text') await this.#indexes.getTextTable(index).remove({ document_id: documentIds })
    await this.#indexes.vectors(index).remove({ document_id: documentIds })
    await this.#database.write(async (transaction) => {
      for (const id of documentIds) await forgetDocument(transaction, index.id, side, id)
      await endBatch(transaction, index.id)
    })
  }

  /** LanceDB never calls fsync, and a damaged manifest can open as an empty table: what was written is counted, and made again if it is not there. */
  async #verifyRowCounts(index: Index): Promise<boolean> {
    const said = await countExpectedRows(this.#database, index.id)
    const vectors = this.#indexes.vectors(index)
    const damaged = !(await hasRowCount(this.#indexes.getTextTable(index), said.text))
      ? 'text'
      : !(await hasRowCount(vectors, said.vectors)) && !(await this.#removeOutdatedVectors(index, said.vectors))
        ? 'vectors'
        : undefined
    if (damaged) await this.#reset(index, damaged)
    else for (const table of [this.#indexes.getTextTable(index), vectors]) await table.mendIndices()
    return damaged === undefined
  }

  /** A document that was read again keeps its old vectors until it has new ones: these are more than is said to be there, and no damage. */
  async #removeOutdatedVectors(index: Index, expected: number): Promise<boolean> {
    const vectors = this.#indexes.vectors(index)
    const pending = await listPendingVectors(this.#database, index.id)
    try {
      await vectors.remove({ document_id: pending.map(({ document_id }) => document_id) })
    } catch {
      return false // it cannot even be opened
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

function* splitRows(documents: readonly DocumentRows[]): Generator<PassageRow[]> {
  const rows = documents.flatMap((document) => document.rows)
  for (let from = 0; from < rows.length; from += MAX_ROWS_PER_COMMIT) yield rows.slice(from, from + MAX_ROWS_PER_COMMIT)
}

async function hasRowCount(table: PassageTable, expected: number): Promise<boolean> {
  try {
    return (await table.readable()) === expected
  } catch {
    return false // a table that cannot be opened holds nothing
  }
}
