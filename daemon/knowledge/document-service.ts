/** Documents of a knowledge source: what may be added, and keeping record and original together. */
import { extname } from 'node:path'
import type { Static } from 'typebox'
import { CadreError, createNotFoundError, createValidationError } from '../../src/contract/errors.ts'
import type { Document, DocumentCreate } from '../../src/contract/families/documents.ts'
import { DEFAULT_FILE_TYPES, DEFAULT_MAX_FILE_SIZE } from '../../src/contract/families/knowledge-sources.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Caller, Change } from '../core/caller.ts'
import { requireSeen } from '../core/etag.ts'
import { newId } from '../core/identifiers.ts'
import type { Database, Reader } from '../store/database.ts'
import type { Originals } from '../store/documents.ts'
import type { Page } from '../store/records.ts'
import type { KnowledgeService } from './service.ts'
import { documentRecords, isContentInUse, listAllContentHashes, markAsSent, type StoredDocument, type StoredSource } from './store.ts'

type DocumentView = Static<typeof Document>
type DocumentInput = Static<typeof DocumentCreate>

export class DocumentsService {
  readonly #database: Database
  readonly #originals: Originals
  readonly #sources: KnowledgeService

  constructor(database: Database, originals: Originals, sources: KnowledgeService) {
    this.#database = database
    this.#originals = originals
    this.#sources = sources
  }

  async list(caller: Caller, sourceId: string, query: ListQuery): Promise<Page<DocumentView>> {
    await this.#sources.require(this.#database, caller, sourceId)
    const { items, total } = await documentRecords.list(this.#database, query, { knowledge_source_id: sourceId })
    return { items: items.map(toView), total }
  }

  async get(sourceId: string, id: string): Promise<DocumentView> {
    return toView(await this.#require(this.#database, sourceId, id))
  }

  /** Adds a document, or replaces the one of the same name. */
  async add(change: Change, sourceId: string, input: DocumentInput): Promise<DocumentView> {
    const source = await this.#sources.require(this.#database, change.caller, sourceId)
    const type = validateName(source, input.name)
    const bytes = decodeContent(input)
    validateMetadata(input.metadata)
    const limit = (source.configuration.max_file_size as number | undefined) ?? DEFAULT_MAX_FILE_SIZE
    if (bytes.length > limit)
      throw new CadreError('PAYLOAD_TOO_LARGE', `The document has ${bytes.length} bytes; this source takes at most ${limit}.`, {
        hint: "Raise the source's max_file_size, or split the document.",
      })
    let replaced: string | undefined
    const document = await this.#originals.keep(bytes, (contentHash) =>
      this.#database.write(async (transaction) => {
        await this.#sources.require(transaction, change.caller, sourceId)
        const [previous] = await documentRecords.find(transaction, { knowledge_source_id: sourceId, name: input.name })
        // The same bytes once more are in the index already, and are not read again.
        const read =
          previous?.content_hash === contentHash && previous.status !== 'failed'
            ? previous
            : { status: 'waiting' as const, pages: null, chunks: 0 }
        const now = new Date().toISOString()
        const content = {
          type,
          size: bytes.length,
          content_hash: contentHash,
          metadata: input.metadata ?? {},
          status: read.status,
          error: null,
          pages: read.pages,
          chunks: read.chunks,
          updated_at: now,
        }
        const record: StoredDocument = previous
          ? { ...previous, ...content }
          : { id: newId('doc'), knowledge_source_id: sourceId, name: input.name, ...content, version: 1, created_at: now }
        if (previous) await documentRecords.update(transaction, record)
        else await documentRecords.insert(transaction, record)
        if (previous) await markAsSent(transaction, record.id)
        replaced = previous && previous.content_hash !== contentHash ? previous.content_hash : undefined
        await change.remember?.(transaction, toView(record))
        return toView(record)
      }),
    )
    if (replaced) await this.#releaseOriginal(replaced)
    return document
  }

  async remove(change: Change, sourceId: string, id: string): Promise<string> {
    const record = await this.#database.write(async (transaction) => {
      const found = await this.#require(transaction, sourceId, id)
      requireSeen('document', change.ifMatch, toView(found))
      await documentRecords.delete(transaction, id)
      return found
    })
    await this.#releaseOriginal(record.content_hash)
    return `The document "${record.name}" was deleted.`
  }

  async sweepOriginals(): Promise<void> {
    await this.#originals.sweep(await listAllContentHashes(this.#database))
  }

  async #releaseOriginal(contentHash: string): Promise<void> {
    await this.#originals.release(contentHash, () => isContentInUse(this.#database, contentHash))
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

/** The file type of a document that the source takes; names are relative paths that stay inside. */
function validateName(source: StoredSource, name: string): string {
  if (source.type !== 'file')
    throw createValidationError(
      'id',
      `documents of a ${source.type} source come from its configuration`,
      'Make a source of type file to send documents to it.',
    )
  const parts = name.split('/')
  const odd =
    /[\u0000-\u001f\u007f\\]/.test(name) ||
    /^[A-Za-z]:/.test(name) ||
    parts.some((part) => part.trim() === '' || part === '.' || part === '..')
  if (odd) throw createValidationError('name', 'must be a relative path such as policies/leave.md')
  const type = extname(name).slice(1).toLowerCase()
  const types = ((source.configuration.file_types as string[] | undefined) ?? DEFAULT_FILE_TYPES).map((wanted) => wanted.toLowerCase())
  if (!types.includes(type))
    throw createValidationError(
      'name',
      type === '' ? 'has no file extension' : `this source does not take .${type} files`,
      `It takes ${types.join(', ')}.`,
    )
  return type
}

/** Metadata comes along with every passage that is found, and with every list of documents. */
const MAX_METADATA_LENGTH = 64 * 1024

function validateMetadata(metadata: Record<string, unknown> = {}): void {
  if (JSON.stringify(metadata).length > MAX_METADATA_LENGTH)
    throw createValidationError('metadata', `must be at most ${MAX_METADATA_LENGTH} characters of JSON`)
}

function decodeContent({ content, content_base64 }: DocumentInput): Buffer {
  if ((content === undefined) === (content_base64 === undefined))
    throw createValidationError('content', 'send either content or content_base64')
  if (content !== undefined) return Buffer.from(content, 'utf8')
  const text = (content_base64 as string).replaceAll(/\s+/g, '')
  const bytes = Buffer.from(text, 'base64')
  const whole = text.length % 4 === 0 ? text.length : text.length + 4 - (text.length % 4)
  const padding = bytes.length % 3 === 0 ? 0 : 3 - (bytes.length % 3)
  // Node skips what is no base64; if anything was skipped, the lengths do not agree.
  if (whole !== Math.ceil(bytes.length / 3) * 4 || text.replace(/=+$/, '').length !== whole - padding)
    throw createValidationError('content_base64', 'is not valid base64')
  return bytes
}
