/** Service for the documents of knowledge sources. */
import { extname } from 'node:path'
import type { Static } from 'typebox'
import { CadreError, createNotFoundError, createValidationError } from '../../src/contract/errors.ts'
import type { Document, DocumentCreate } from '../../src/contract/families/documents.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { DEFAULT_FILE_TYPES, DEFAULT_MAX_FILE_SIZE } from '../../src/contract/schemas/source-configurations.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import { requireMatchingEtag } from '../core/etag.ts'
import { generateId } from '../core/identifiers.ts'
import type { Database, DatabaseReader } from '../store/database.ts'
import type { OriginalStore } from '../store/original-store.ts'
import type { Page } from '../store/records.ts'
import { decodeContent } from './decode-content.ts'
import { isContainerType } from './readers/containers/container-kind.ts'
import type { KnowledgeService } from './service.ts'
import { formatSizeProblem } from './sources/files/read-file-within.ts'
import {
  deleteMembers,
  documentRecords,
  excludeSkipped,
  isContentInUse,
  listAllContentHashes,
  markAsSent,
  releaseOriginal,
  type StoredDocument,
  type StoredSource,
} from './store.ts'
import { markSyncing } from './sync/sync-store.ts'
import type { Synchronizer } from './sync/synchronizer.ts'

type DocumentView = Static<typeof Document>
type DocumentInput = Static<typeof DocumentCreate>

/** Metadata is part of every search result and document list. */
const MAX_METADATA_LENGTH = 64 * 1024
/** State of a document that was not read yet. */
const NOT_INDEXED = { status: 'waiting', error: null, notice: null, pages: null, chunks: 0 } as const

export class DocumentsService {
  readonly #database: Database
  readonly #originals: OriginalStore
  readonly #sources: KnowledgeService
  readonly #synchronizer: Synchronizer

  constructor(database: Database, originals: OriginalStore, sources: KnowledgeService, synchronizer: Synchronizer) {
    this.#database = database
    this.#originals = originals
    this.#sources = sources
    this.#synchronizer = synchronizer
  }

  async list(caller: Caller, sourceId: string, query: ListQuery): Promise<Page<DocumentView>> {
    await this.#sources.require(this.#database, caller, sourceId)
    const { items, total } = await documentRecords.list(this.#database, query, {
      knowledge_source_id: sourceId,
      ...excludeSkipped(query),
    })
    return { items: items.map(toView), total }
  }

  async get(sourceId: string, id: string): Promise<DocumentView> {
    return toView(await this.#require(this.#database, sourceId, id))
  }

  /** Adds a document, or replaces the document with the same name. */
  async add(change: ChangeContext, sourceId: string, input: DocumentInput): Promise<DocumentView> {
    const source = await this.#sources.require(this.#database, change.caller, sourceId)
    const type = validateName(source, input.name)
    const bytes = decodeContent(input)
    const { metadata = {}, index = true } = input
    if (JSON.stringify(metadata).length > MAX_METADATA_LENGTH)
      throw createValidationError('metadata', `must have at most ${MAX_METADATA_LENGTH} characters as JSON`)
    const limit = (source.configuration.max_file_size as number | undefined) ?? DEFAULT_MAX_FILE_SIZE
    if (bytes.length > limit)
      throw new CadreError('PAYLOAD_TOO_LARGE', formatSizeProblem(bytes.length, limit), {
        hint: 'Increase max_file_size of the source or split the document.',
      })
    let replacedHash: string | undefined
    let mustSync = false
    const document = await this.#originals.keep(bytes, (contentHash, confirm) =>
      this.#database.write(async (transaction) => {
        await confirm(transaction)
        await this.#sources.require(transaction, change.caller, sourceId)
        const [previous] = await documentRecords.find(transaction, { knowledge_source_id: sourceId, name: input.name })
        // Unchanged content is not read again.
        const progress = previous?.content_hash === contentHash && previous.status !== 'failed' ? previous : NOT_INDEXED
        const now = new Date().toISOString()
        const { status, notice, pages, chunks } = progress
        const size = bytes.length
        const content = { type, size, content_hash: contentHash, metadata, status, error: null, notice, pages, chunks, updated_at: now }
        const record: StoredDocument = previous
          ? { ...previous, ...content }
          : { id: generateId('doc'), knowledge_source_id: sourceId, name: input.name, ...content, version: 1, created_at: now }
        if (previous) {
          await documentRecords.update(transaction, record)
          await markAsSent(transaction, record.id)
        } else await documentRecords.insert(transaction, record)
        replacedHash = previous && previous.content_hash !== contentHash ? previous.content_hash : undefined
        mustSync = index && status !== 'indexed'
        // In the same transaction, so that a restart resumes the sync.
        if (mustSync) await markSyncing(transaction, sourceId)
        await change.storeResponse?.(transaction, toView(record))
        return toView(record)
      }),
    )
    if (mustSync) await this.#synchronizer.start(sourceId)
    await releaseOriginal(this.#originals, this.#database, replacedHash)
    return document
  }

  async remove(change: ChangeContext, sourceId: string, id: string): Promise<string> {
    const { record, memberHashes } = await this.#database.write(async (transaction) => {
      const stored = await this.#require(transaction, sourceId, id)
      // Indexing does not change the document, so the tag of the response to POST matches, too.
      requireMatchingEtag('document', change.ifMatch, toView(stored), { ...toView(stored), ...NOT_INDEXED })
      await documentRecords.delete(transaction, id)
      return {
        record: stored,
        memberHashes: isContainerType(stored.type) ? await deleteMembers(transaction, sourceId, stored.name) : [],
      }
    })
    for (const contentHash of [record.content_hash, ...memberHashes]) await releaseOriginal(this.#originals, this.#database, contentHash)
    return `The document "${record.name}" was deleted.`
  }

  /** Deletes originals that no document refers to. */
  async sweepOriginals(): Promise<void> {
    const isInUse = (contentHash: string, reader: DatabaseReader = this.#database) => isContentInUse(reader, contentHash)
    await this.#originals.removeUnused(await listAllContentHashes(this.#database), isInUse)
  }

  async #require(reader: DatabaseReader, sourceId: string, id: string): Promise<StoredDocument> {
    const record = await documentRecords.get(reader, id, { knowledge_source_id: sourceId })
    if (!record) throw createNotFoundError('document', id)
    return record
  }
}

function toView({ version: _, ...document }: StoredDocument): DocumentView {
  return document
}

/** Where the documents of a source are that cannot be uploaded. */
const SOURCE_PLACES: Record<string, string> = { folder: 'folder', url: 'website', git: 'git repository', text: 'text' }

/** Requires a relative path with a file type that the source accepts. Returns the file type. */
function validateName(source: StoredSource, name: string): string {
  if (source.type !== 'file')
    throw new CadreError('VALIDATION_ERROR', `${source.name} reads a ${SOURCE_PLACES[source.type]}. Documents cannot be added to it.`, {
      details: [{ field: 'id', problem: `is a source of type ${source.type}` }],
      hint: 'Add the file there and sync the source, or create a source of type file.',
    })
  const parts = name.split('/')
  const isInvalid =
    /[\u0000-\u001f\u007f\\]/.test(name) ||
    /^[A-Za-z]:/.test(name) ||
    parts.some((part) => part.trim() === '' || part === '.' || part === '..')
  if (isInvalid) throw createValidationError('name', 'must be a relative path such as policies/leave.md')
  const type = extname(name).slice(1).toLowerCase()
  const types = ((source.configuration.file_types as string[] | undefined) ?? DEFAULT_FILE_TYPES).map((accepted) => accepted.toLowerCase())
  if (!types.includes(type))
    throw new CadreError('VALIDATION_ERROR', `${name} ${type === '' ? 'has no file extension' : `is a .${type} file`}.`, {
      details: [{ field: 'name', problem: 'has a type that this source does not accept' }],
      hint: `This source accepts: ${types.join(', ')}.`,
    })
  return type
}
