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
import type { Database, Reader } from '../store/database.ts'
import type { OriginalStore } from '../store/original-store.ts'
import type { Page } from '../store/records.ts'
import { releaseOriginal } from './release-original.ts'
import type { KnowledgeService } from './service.ts'
import { documentRecords, isContentInUse, listAllContentHashes, markAsSent, type StoredDocument, type StoredSource } from './store.ts'
import { markSyncing } from './sync/sync-store.ts'
import type { Synchronizer } from './sync/synchronizer.ts'

type DocumentView = Static<typeof Document>
type DocumentInput = Static<typeof DocumentCreate>

/** Metadata is part of every search result and document list. */
const MAX_METADATA_LENGTH = 64 * 1024
/** State of a document that was not read yet. */
const NOT_INDEXED = { status: 'waiting', error: null, pages: null, chunks: 0 } as const

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
    const { items, total } = await documentRecords.list(this.#database, query, { knowledge_source_id: sourceId })
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
      throw new CadreError('PAYLOAD_TOO_LARGE', `The document has ${bytes.length} bytes; this source accepts at most ${limit}.`, {
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
        const { status, pages, chunks } = progress
        const size = bytes.length
        const content = { type, size, content_hash: contentHash, metadata, status, error: null, pages, chunks, updated_at: now }
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
    const record = await this.#database.write(async (transaction) => {
      const stored = await this.#require(transaction, sourceId, id)
      // Indexing does not change the document, so the tag of the response to POST matches, too.
      requireMatchingEtag('document', change.ifMatch, toView(stored), { ...toView(stored), ...NOT_INDEXED })
      await documentRecords.delete(transaction, id)
      return stored
    })
    await releaseOriginal(this.#originals, this.#database, record.content_hash)
    return `The document "${record.name}" was deleted.`
  }

  /** Deletes originals that no document refers to. */
  async sweepOriginals(): Promise<void> {
    const isInUse = (contentHash: string, reader: Reader = this.#database) => isContentInUse(reader, contentHash)
    await this.#originals.removeUnused(await listAllContentHashes(this.#database), isInUse)
  }

  async #require(reader: Reader, sourceId: string, id: string): Promise<StoredDocument> {
    const record = await documentRecords.get(reader, id, { knowledge_source_id: sourceId })
    if (!record) throw createNotFoundError('document', id)
    return record
  }
}

function toView({ version: _, ...document }: StoredDocument): DocumentView {
  return document
}

/** Requires a relative path with a file type that the source accepts. Returns the file type. */
function validateName(source: StoredSource, name: string): string {
  if (source.type !== 'file')
    throw createValidationError(
      'id',
      `names a ${source.type} source, which does not accept documents`,
      'Create a source of type file to add documents.',
    )
  const parts = name.split('/')
  const isInvalid =
    /[\u0000-\u001f\u007f\\]/.test(name) ||
    /^[A-Za-z]:/.test(name) ||
    parts.some((part) => part.trim() === '' || part === '.' || part === '..')
  if (isInvalid) throw createValidationError('name', 'must be a relative path such as policies/leave.md')
  const type = extname(name).slice(1).toLowerCase()
  const types = ((source.configuration.file_types as string[] | undefined) ?? DEFAULT_FILE_TYPES).map((accepted) => accepted.toLowerCase())
  if (!types.includes(type))
    throw createValidationError(
      'name',
      type === '' ? 'has no file extension' : `has the type .${type}, which this source does not accept`,
      `Accepted types: ${types.join(', ')}.`,
    )
  return type
}

function decodeContent({ content, content_base64 }: DocumentInput): Buffer {
  if ((content === undefined) === (content_base64 === undefined))
    throw createValidationError('content', 'send either content or content_base64')
  if (content !== undefined) return Buffer.from(content, 'utf8')
  const text = (content_base64 as string).replaceAll(/\s+/g, '')
  const bytes = Buffer.from(text, 'base64')
  const paddedLength = Math.ceil(text.length / 4) * 4
  const padding = bytes.length % 3 === 0 ? 0 : 3 - (bytes.length % 3)
  // Node skips characters that are not base64; the lengths differ if any were skipped.
  if (paddedLength !== Math.ceil(bytes.length / 3) * 4 || text.replace(/=+$/, '').length !== paddedLength - padding)
    throw createValidationError('content_base64', 'is not valid base64')
  return bytes
}
