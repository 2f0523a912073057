/** Writes passages to an index so that a kill at any moment leaves no duplicate and no missing rows. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { Leases } from '../../cluster/cluster.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { PassageTable } from '../../store/passage-table.ts'
import type { IndexRegistry } from '../passage-indexes/index-registry.ts'
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
} from '../passage-indexes/index-store.ts'
import { claimIndex, LeaseLostError, requireFence } from './index-fence.ts'
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
  readonly #leases: Leases
  readonly #indexes: IndexRegistry

  constructor(database: Database, leases: Leases, indexes: IndexRegistry) {
    this.#database = database
    this.#leases = leases
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
    const batch = this.open(index, side, documents)
    for (const { rows } of documents) await batch.add(rows)
    await batch.finish(also)
  }

  /** Replaces the passages of documents whose rows become known one after another. Only one batch of an index can be open. */
  open(index: Index, side: IndexSide, documents: readonly Omit<DocumentRows, 'rows'>[]): IndexBatch {
    const table = side === 'text' ? this.#indexes.getTextTable(index) : this.#indexes.getVectorTable(index)
    return new IndexBatch({ database: this.#database, leases: this.#leases, table, index, side }, documents)
  }

  async erase(index: Index, documentIds: readonly string[]): Promise<void> {
    if (documentIds.length === 0) return
    const fence = await this.#database.write(async (transaction) => {
      const fence = await claimIndex(this.#leases, transaction, index)
      await beginBatch(transaction, index.id, 'text', [...documentIds])
      return fence
    })
    await this.#remove(index, 'text', documentIds, fence)
  }

  /** Undoes an interrupted batch and resets an index whose tables lost rows. Returns false if the index must be rebuilt in part. */
  async repair(index: Index): Promise<boolean> {
    if (index.batch === null) return this.#indexes.isDurable || this.#verifyRowCounts(index)
    const { side, documents } = JSON.parse(index.batch) as Batch
    const fence = await this.#database.write((transaction) => claimIndex(this.#leases, transaction, index))
    try {
      await this.#remove(index, side, documents, fence)
      if (!this.#indexes.isDurable) await this.#verifyRowCounts(index)
    } catch (error) {
      if (error instanceof CadreError) throw error // the storage cannot be reached
      await this.#reset(index, side) // the table cannot be opened
    }
    return false
  }

  /** Removes the old and new rows of documents, then ends the batch. Removing text removes vectors, too. */
  async #remove(index: Index, side: IndexSide, documentIds: readonly string[], fence: number): Promise<void> {
    if (side === 'text') await this.#indexes.getTextTable(index).remove({ document_id: documentIds })
    await this.#indexes.getVectorTable(index).remove({ document_id: documentIds })
    await this.#database.write(async (transaction) => {
      await requireFence(this.#leases, transaction, index, fence)
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
}

interface BatchTarget {
  database: Database
  leases: Leases
  table: PassageTable
  index: Index
  side: IndexSide
}

/** Commits rows as soon as there are enough of them. The database records the documents last. */
export class IndexBatch {
  readonly #target: BatchTarget
  readonly #contentHashes: Map<string, string>
  readonly #chunks = new Map<string, number>()
  #rows: PassageRow[] = []
  #generation: number | undefined
  #fence = 0

  constructor(target: BatchTarget, documents: readonly Omit<DocumentRows, 'rows'>[]) {
    this.#target = target
    this.#contentHashes = new Map(documents.map(({ documentId, contentHash }) => [documentId, contentHash]))
  }

  async add(rows: readonly PassageRow[]): Promise<void> {
    for (const row of rows) {
      const id = row.document_id as string
      this.#chunks.set(id, (this.#chunks.get(id) ?? 0) + 1)
      this.#rows.push(row)
    }
    while (this.#rows.length >= MAX_ROWS_PER_COMMIT) await this.#commit(this.#rows.splice(0, MAX_ROWS_PER_COMMIT))
  }

  /** Removes the rows of earlier versions and records the documents, in one transaction with `also`. */
  async finish(also?: (transaction: Transaction) => Promise<void>): Promise<void> {
    await this.#commit(this.#rows.splice(0))
    const generation = this.#generation as number
    await this.#target.table.remove({ document_id: [...this.#contentHashes.keys()], generation: { below: generation } })
    try {
      await this.#record(also)
    } catch (error) {
      if (error instanceof LeaseLostError) await this.#removeRows(generation)
      throw error
    }
  }

  async #record(also?: (transaction: Transaction) => Promise<void>): Promise<void> {
    const { database, leases, index, side } = this.#target
    await database.write(async (transaction) => {
      await requireFence(leases, transaction, index, this.#fence)
      for (const [documentId, contentHash] of this.#contentHashes) {
        const chunks = this.#chunks.get(documentId) ?? 0
        await recordDocument(transaction, index.id, side, { documentId, contentHash, chunks })
      }
      await also?.(transaction)
      await endBatch(transaction, index.id)
    })
  }

  /** Removes the rows of this batch and keeps those of earlier versions. */
  async discard(): Promise<void> {
    if (this.#generation === undefined) return
    await this.#removeRows(this.#generation)
    const { database, leases, index } = this.#target
    await database.write(async (transaction) => {
      await requireFence(leases, transaction, index, this.#fence)
      await endBatch(transaction, index.id)
    })
  }

  async #removeRows(generation: number): Promise<void> {
    await this.#target.table.remove({ document_id: [...this.#contentHashes.keys()], generation })
  }

  async #commit(rows: readonly PassageRow[]): Promise<void> {
    const { database, leases, table, index, side } = this.#target
    this.#generation ??= await database.write(async (transaction) => {
      this.#fence = await claimIndex(leases, transaction, index)
      return beginBatch(transaction, index.id, side, [...this.#contentHashes.keys()])
    })
    const generation = this.#generation
    await table.add(rows.map((row) => ({ ...row, generation })))
  }
}

async function hasRowCount(table: PassageTable, expected: number): Promise<boolean> {
  try {
    return (await table.countReadableRows()) === expected
  } catch {
    return false // the table cannot be opened
  }
}
