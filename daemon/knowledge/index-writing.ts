/** Writing an index so that a kill at any moment leaves nothing doubled and nothing missing. */
import type { Database } from '../store/database.ts'
import type { PassageRow } from '../store/vectors.ts'
import type { Batch, Index, Indexes } from './indexes.ts'

export interface DocumentRows {
  documentId: string
  contentHash: string
  rows: PassageRow[]
}

export class IndexWriter {
  readonly #database: Database
  readonly #indexes: Indexes

  constructor(database: Database, indexes: Indexes) {
    this.#database = database
    this.#indexes = indexes
  }

  /** Replaces the passages of documents: the new ones are added before the old ones go, and only then are they said to be there. */
  async write(index: Index, side: Batch['side'], documents: readonly DocumentRows[]): Promise<void> {
    if (documents.length === 0) return
    const table = side === 'text' ? this.#indexes.text(index) : this.#indexes.vectors(index)
    const ids = documents.map(({ documentId }) => documentId)
    const generation = await this.#begin(index, side, ids)
    await table.add(documents.flatMap(({ rows }) => rows.map((row) => ({ ...row, generation }))))
    await table.remove({ document_id: ids, generation: { below: generation } })
    await this.#database.write(async (transaction) => {
      for (const { documentId, contentHash, rows } of documents) {
        if (side === 'text')
          await transaction.run('INSERT OR REPLACE INTO index_documents (index_id, document_id, content_hash, chunks, embedded) VALUES (?, ?, ?, ?, 0)', [
            index.id,
            documentId,
            contentHash,
            rows.length,
          ])
        else
          await transaction.run('UPDATE index_documents SET embedded = 1 WHERE index_id = ? AND document_id = ? AND content_hash = ?', [
            index.id,
            documentId,
            contentHash,
          ])
      }
      await transaction.run('UPDATE indexes SET batch = NULL WHERE id = ?', [index.id])
    })
  }

  /** Takes documents out of an index. */
  async erase(index: Index, documentIds: readonly string[]): Promise<void> {
    if (documentIds.length === 0) return
    await this.#indexes.text(index).remove({ document_id: documentIds })
    await this.#indexes.vectors(index).remove({ document_id: documentIds })
    await this.#database.write(async (transaction) => {
      for (const id of documentIds) await transaction.run('DELETE FROM index_documents WHERE index_id = ? AND document_id = ?', [index.id, id])
    })
  }

  /** Undoes a batch that was cut short, and starts over on an index whose tables lost rows. */
  async repair(index: Index): Promise<void> {
    if (index.batch !== null) {
      const { side, generation, documents } = JSON.parse(index.batch) as Batch
      const table = side === 'text' ? this.#indexes.text(index) : this.#indexes.vectors(index)
      await table.remove({ document_id: documents, generation })
      await this.#database.write(async (transaction) => {
        // Their old passages may be gone already: they are read again either way.
        for (const id of documents) {
          if (side === 'text') await transaction.run('DELETE FROM index_documents WHERE index_id = ? AND document_id = ?', [index.id, id])
          else await transaction.run('UPDATE index_documents SET embedded = 0 WHERE index_id = ? AND document_id = ?', [index.id, id])
        }
        await transaction.run('UPDATE indexes SET batch = NULL WHERE id = ?', [index.id])
      })
      if (side === 'text') await table.remove({ document_id: documents })
    }
    await this.#recount(index)
  }

  /** LanceDB never calls fsync, and a damaged manifest can open as an empty table: what was written is counted, and made again if it is not there. */
  async #recount(index: Index): Promise<void> {
    const said = await this.#database.get<{ text: number; vectors: number }>(
      'SELECT coalesce(sum(chunks), 0) AS text, coalesce(sum(CASE WHEN embedded = 1 THEN chunks ELSE 0 END), 0) AS vectors FROM index_documents WHERE index_id = ?',
      [index.id],
    )
    if (!(await holds(this.#indexes.text(index), said?.text ?? 0)))
      return this.#startOver(index, 'DELETE FROM index_documents WHERE index_id = ?', ['text', 'vectors'])
    if (!(await holds(this.#indexes.vectors(index), said?.vectors ?? 0)))
      return this.#startOver(index, 'UPDATE index_documents SET embedded = 0 WHERE index_id = ?', ['vectors'])
  }

  async #startOver(index: Index, forget: string, sides: Batch['side'][]): Promise<void> {
    await this.#database.write(async (transaction) => {
      await transaction.run(forget, [index.id])
      await transaction.run('UPDATE indexes SET ready = 0 WHERE id = ?', [index.id])
    })
    for (const side of sides) await this.#indexes.clear(index, side)
  }

  async #begin(index: Index, side: Batch['side'], documents: string[]): Promise<number> {
    return this.#database.write(async (transaction) => {
      const row = await transaction.get<{ generation: number }>('SELECT generation FROM indexes WHERE id = ?', [index.id])
      const generation = (row?.generation ?? 0) + 1
      const batch: Batch = { side, generation, documents }
      await transaction.run('UPDATE indexes SET generation = ?, batch = ? WHERE id = ?', [generation, JSON.stringify(batch), index.id])
      return generation
    })
  }
}

async function holds(table: { count(): Promise<number> }, expected: number): Promise<boolean> {
  try {
    return (await table.count()) === expected
  } catch {
    return false // a table that cannot be opened holds nothing
  }
}
