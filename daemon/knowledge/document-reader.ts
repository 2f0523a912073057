/** Finds documents by name or ID and reads their text. */
import type { Static } from 'typebox'
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import type { Document } from '../../src/contract/families/documents.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Database } from '../store/database.ts'
import { DamagedOriginalError, type OriginalStore } from '../store/original-store.ts'
import type { Page } from '../store/records.ts'
import { DocumentReadError } from './readers/parsed-document.ts'
import { completeDocuments, documentRecords } from './store.ts'
import type { ParserPool } from './sync/parser-pool.ts'
import type { DocumentText, LineRange } from './sync/parser-protocol.ts'

export type { DocumentText, LineRange } from './sync/parser-protocol.ts'

type DocumentView = Static<typeof Document>

export class DocumentReader {
  readonly #database: Database
  readonly #originals: OriginalStore
  readonly #parserPool: ParserPool

  constructor(database: Database, originals: OriginalStore, parserPool: ParserPool) {
    this.#database = database
    this.#originals = originals
    this.#parserPool = parserPool
  }

  /** Lists documents of all sources. */
  list(query: ListQuery): Promise<Page<DocumentView>> {
    return documentRecords.list(this.#database, query)
  }

  /** Lists names or IDs that begin with the prefix. */
  complete(field: 'name' | 'id', prefix: string, limit: number, sourceId?: string): Promise<string[]> {
    return completeDocuments(this.#database, field, prefix, limit, sourceId)
  }

  findMany(ids: readonly string[]): Promise<DocumentView[]> {
    return ids.length === 0 ? Promise.resolve([]) : documentRecords.find(this.#database, { id: ids }, ids.length)
  }

  /** Finds a document by its ID, or by its name if only one document has it. */
  async require(reference: string, sourceId?: string): Promise<DocumentView> {
    const scope = sourceId === undefined ? {} : { knowledge_source_id: sourceId }
    const byId = await documentRecords.get(this.#database, reference, scope)
    if (byId) return byId
    const [found, another] = await documentRecords.find(this.#database, { name: reference, ...scope }, 2)
    if (!found) throw createNotFoundError('document', reference)
    if (another)
      throw new CadreError('CONFLICT', `Several knowledge sources have a document "${reference}".`, {
        hint: `Name the source (${found.knowledge_source_id} or ${another.knowledge_source_id}), or use an ID: ${found.id}, ${another.id}.`,
      })
    return found
  }

  async read({ name, content_hash }: DocumentView, range: LineRange, signal: AbortSignal): Promise<DocumentText> {
    try {
      return await this.#parserPool.read(await this.#originals.read(content_hash), name, range, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof DocumentReadError) throw new CadreError('CONFLICT', `The document "${name}" cannot be read: ${error.message}`)
      if (error instanceof DamagedOriginalError || (error as NodeJS.ErrnoException).code === 'ENOENT')
        throw new CadreError('CONFLICT', `The original of "${name}" is missing or damaged.`, { hint: 'Sync its source again.' })
      throw error
    }
  }
}
