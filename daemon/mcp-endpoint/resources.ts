/** Documents as resources of the MCP server. */
import type { Static } from 'typebox'
import { CadreError } from '../../src/contract/errors.ts'
import type { Document } from '../../src/contract/families/documents.ts'
import type { Caller } from '../core/caller.ts'
import type { DocumentLookup } from '../knowledge/document-lookup.ts'
import type { KnowledgeService } from '../knowledge/service.ts'
import { LAST_LINE } from './document-tools.ts'
import { findByName } from './find-by-name.ts'

type DocumentView = Static<typeof Document>

const SOURCES = 'cadre://sources/'
const DOCUMENTS = 'cadre://documents/'
const PAGE_SIZE = 100
const MAX_COMPLETIONS = 100
const MAX_TEXT_LENGTH = 1_000_000

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${SOURCES}{source}/{+document}`,
    name: 'document-by-name',
    title: 'Document by name',
    description: 'Text of a document: the name of its knowledge source and its own name.',
  },
  {
    uriTemplate: `${DOCUMENTS}{document_id}`,
    name: 'document-by-id',
    title: 'Document by ID',
    description: 'Text of a document.',
  },
]

export class DocumentResources {
  readonly #knowledge: KnowledgeService
  readonly #lookup: DocumentLookup

  constructor(knowledge: KnowledgeService, lookup: DocumentLookup) {
    this.#knowledge = knowledge
    this.#lookup = lookup
  }

  /** Lists documents in the order in which they were added, so that pages do not shift. */
  async list(page: number) {
    const { items, total } = await this.#lookup.list({ page, limit: PAGE_SIZE, sort: 'created_at', order: 'asc' })
    const names = await this.#getSourceNames()
    return {
      resources: items.map((document) => this.#describe(document, names)),
      nextPage: page * PAGE_SIZE < total ? page + 1 : undefined,
    }
  }

  /** Returns undefined if the URI names no document. */
  async read(caller: Caller, uri: string, signal: AbortSignal) {
    const document = await this.#find(caller, uri)
    if (!document) return undefined
    const range = { from: 1, to: LAST_LINE, maxCharacters: MAX_TEXT_LENGTH }
    const { text, to, lines, nextCharacter } = await this.#lookup.read(document, range, signal)
    const isComplete = to === lines && nextCharacter === undefined
    const first = nextCharacter === undefined ? `Lines ${to + 1}` : `Line ${to} from character ${nextCharacter}`
    const note = isComplete ? '' : `\n[${first} to line ${lines} are missing, because the document is too long.]`
    return { uri, mimeType: getMimeType(document), text: `${text}${note}` }
  }

  /** Completes a variable of a template. */
  async complete(caller: Caller, variable: string, value: string, others: Record<string, string>): Promise<string[]> {
    if (variable === 'source') {
      const isMatch = (name: string) => name.toLowerCase().startsWith(value.toLowerCase())
      return [...new Set((await this.#getSourceNames()).values())].filter(isMatch).slice(0, MAX_COMPLETIONS)
    }
    const source = others.source === undefined ? undefined : await findByName(this.#knowledge, caller, others.source)
    return this.#lookup.complete(variable === 'document_id' ? 'id' : 'name', value, MAX_COMPLETIONS, source?.id)
  }

  async #find(caller: Caller, uri: string): Promise<DocumentView | undefined> {
    try {
      if (uri.startsWith(DOCUMENTS)) return await this.#lookup.require(decodeURIComponent(uri.slice(DOCUMENTS.length)))
      const [, source, document] = /^cadre:\/\/sources\/([^/]+)\/(.+)$/.exec(uri) ?? []
      if (source === undefined || document === undefined) return undefined
      const { id } = await findByName(this.#knowledge, caller, decodeURIComponent(source))
      return await this.#lookup.require(decodeURIComponent(document), id)
    } catch (error) {
      if (error instanceof URIError || (error instanceof CadreError && error.code === 'NOT_FOUND')) return undefined
      throw error
    }
  }

  /** Sources with the same name are told apart by their ID. */
  #describe(document: DocumentView, names: ReadonlyMap<string, string>) {
    const { name, size, knowledge_source_id: id, updated_at } = document
    const source = names.get(id) ?? id
    const isUnique = [...names.values()].filter((other) => other === source).length === 1
    const path = [isUnique ? source : id, ...name.split('/')].map(encodeURIComponent).join('/')
    return {
      uri: `${SOURCES}${path}`,
      name,
      description: `Document of ${source}`,
      mimeType: getMimeType(document),
      size,
      annotations: { lastModified: updated_at },
    }
  }

  async #getSourceNames(): Promise<Map<string, string>> {
    const { database, records } = this.#knowledge
    return new Map((await records.find(database, {}, 1_000)).map(({ id, name }) => [id, name]))
  }
}

/** Documents are returned as the text that was read from them. */
const getMimeType = ({ type }: DocumentView): string => (type === 'md' || type === 'markdown' ? 'text/markdown' : 'text/plain')
