/** Looks up documents by name or ID, and reads their text. */
import { hash } from 'node:crypto'
import type { Static } from 'typebox'
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import { type Document, type DocumentContent, MAX_TEXT_CHARACTERS, type ReadText } from '../../src/contract/families/documents.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Database } from '../store/database.ts'
import { isOriginalError } from '../store/original-store.ts'
import type { Page } from '../store/records.ts'
import { decodeContent } from './decode-content.ts'
import { DocumentReadError } from './readers/parsed-document.ts'
import { listRecognizedPages } from './recognition/recognition-store.ts'
import type { RecognitionDependencies } from './recognition/recognize-documents.ts'
import { completeDocuments, documentRecords, excludeSkipped, listNamesEndingIn } from './store.ts'
import type { DocumentText, LineRange } from './sync/parser-task.ts'

export type { DocumentText, LineRange } from './sync/parser-task.ts'

type DocumentView = Static<typeof Document>

/** Somebody waits for the text, and a page takes about two seconds. */
const MAX_SCANS = 30
const MAX_SUGGESTIONS = 5

type DocumentLookupDependencies = Omit<RecognitionDependencies, 'progress'>

export class DocumentLookup {
  readonly #database: Database
  readonly #dependencies: DocumentLookupDependencies

  constructor(dependencies: DocumentLookupDependencies) {
    this.#database = dependencies.database
    this.#dependencies = dependencies
  }

  /** Lists documents of all sources. */
  list(query: ListQuery): Promise<Page<DocumentView>> {
    return documentRecords.list(this.#database, query, excludeSkipped(query))
  }

  /** Lists names or IDs that begin with the prefix. */
  complete(field: 'name' | 'id', prefix: string, limit: number, sourceId?: string): Promise<string[]> {
    return completeDocuments(this.#database, field, prefix, limit, sourceId)
  }

  getMany(ids: readonly string[]): Promise<DocumentView[]> {
    return ids.length === 0 ? Promise.resolve([]) : documentRecords.find(this.#database, { id: ids }, ids.length)
  }

  /** Finds a document by its ID, or by its name if only one document has it. */
  async require(reference: string, sourceId?: string): Promise<DocumentView> {
    const scope: Record<string, string> = sourceId === undefined ? {} : { knowledge_source_id: sourceId }
    const byId = await documentRecords.get(this.#database, reference, scope)
    if (byId) return byId
    const [found, another] = await documentRecords.find(this.#database, { name: reference, ...scope }, 2)
    if (!found) throw await this.#createUnknownNameError(reference, sourceId)
    if (another)
      throw new CadreError('CONFLICT', `Several knowledge sources have a document "${reference}".`, {
        hint: `Name the source (${found.knowledge_source_id} or ${another.knowledge_source_id}), or use an ID: ${found.id}, ${another.id}.`,
      })
    return found
  }

  /** Names have the folders of a source: `notes/bicycle.md` may be referred to as `bicycle.md`. */
  async #createUnknownNameError(reference: string, sourceId: string | undefined): Promise<CadreError> {
    const { code, message } = createNotFoundError('document', reference)
    const part = reference.slice(reference.lastIndexOf('/') + 1)
    const names = part === '' ? [] : await listNamesEndingIn(this.#database, part, MAX_SUGGESTIONS, sourceId)
    const last = names.pop()
    if (last === undefined) return new CadreError(code, message)
    return new CadreError(code, message, { hint: `Did you mean ${names.length === 0 ? last : `${names.join(', ')} or ${last}`}?` })
  }

  /** Reads a document that is not stored, and recognises its scanned pages. */
  async readUpload({ name, content_base64 }: Static<typeof DocumentContent>, signal: AbortSignal): Promise<Static<typeof ReadText>> {
    const { parserPool, recognizer, languages } = this.#dependencies
    const range = { from: 1, to: Number.MAX_SAFE_INTEGER, maxCharacters: MAX_TEXT_CHARACTERS }
    try {
      const bytes = decodeContent({ content_base64 })
      // The document may be part of a source.
      const pages = await listRecognizedPages(this.#database, hash('sha256', bytes, 'hex'))
      const document = { name, size: bytes.length, recognition: { isEnabled: true, pages }, read: async () => bytes }
      let read = await parserPool.read(document, range, signal)
      if (read.scans) {
        if (read.scans.length > MAX_SCANS)
          throw new DocumentReadError(
            `It has ${read.scans.length} scanned pages; ${MAX_SCANS} is the maximum. Add it to a knowledge source.`,
          )
        const task = { content: bytes, pages: read.scans, languages: await languages.listFiles() }
        await recognizer.recognize(task, async (page) => void pages.push(page), { signal, urgency: 'awaited' })
        pages.sort((a, b) => a.page - b.page)
        read = await parserPool.read(document, range, signal)
      }
      return { text: read.text, truncated: read.to < read.lines || read.nextCharacter !== undefined }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof DocumentReadError) throw new CadreError('VALIDATION_ERROR', `${name} cannot be read. ${error.message}`)
      throw error
    }
  }

  async read({ name, size, content_hash, status }: DocumentView, range: LineRange, signal: AbortSignal): Promise<DocumentText> {
    const { parserPool, originals } = this.#dependencies
    try {
      const pages = await listRecognizedPages(this.#database, content_hash)
      const recognition = { isEnabled: status === 'recognizing', pages }
      const read = () => originals.provide(content_hash)
      const text = await parserPool.read({ name, size, recognition, read }, range, signal)
      if (text.scans && text.text.trim() === '') throw new DocumentReadError('its text is still being recognised. Try again later.')
      return text
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof DocumentReadError) throw new CadreError('CONFLICT', `The document "${name}" cannot be read: ${error.message}`)
      if (isOriginalError(error))
        throw new CadreError('CONFLICT', `The original of "${name}" is missing or damaged.`, { hint: 'Sync its source again.' })
      throw error
    }
  }
}
