/** What MCP clients can do with documents: search them, read them and list their sources. */
import { CadreError } from '../../src/contract/errors.ts'
import type { McpDocument, McpPassage, McpSource } from '../../src/contract/mcp.ts'
import type { Passage } from '../../src/contract/schemas/passages.ts'
import type { Caller } from '../core/caller.ts'
import type { DocumentLookup } from '../knowledge/document-lookup.ts'
import type { KnowledgeService } from '../knowledge/service.ts'
import { normalizeFilters } from '../knowledge/tool-settings.ts'
import { findByName } from './find-by-name.ts'
import { formatDocumentList, formatDocuments, formatPassages, formatSources } from './format-results.ts'
import type { McpCall, McpResult, ToolInput } from './mcp-tool.ts'

const MAX_SOURCES = 1_000
/** Clients refuse results that would fill their context window. Passages have the descriptions of all their folders. */
const MAX_LISTED_FOLDERS = 50
const DEFAULT_TOP_K = 8
/** Characters of all documents of one call. Clients refuse results that would fill their context window. */
const MAX_TEXT_LENGTH = 60_000
/** With less room, a document is read in another call. */
const MIN_ROOM = 500
const PAGE_SIZE = 100
export const LAST_LINE = Number.MAX_SAFE_INTEGER

type DocumentRange = ToolInput<'read_document'>['documents'][number]

export function createDocumentTools(knowledge: KnowledgeService, lookup: DocumentLookup) {
  async function search(
    { query, sources, top_k = DEFAULT_TOP_K, filters = {} }: ToolInput<'search'>,
    { caller, signal }: Pick<McpCall, 'caller' | 'signal'>,
  ): Promise<McpResult> {
    const { database, records } = knowledge
    const searched = sources
      ? await Promise.all(sources.map((source) => findByName(knowledge, caller, source)))
      : await records.find(database, {}, MAX_SOURCES)
    const { results } = await knowledge.search({
      sourceIds: [...new Set(searched.map(({ id }) => id))],
      query,
      method: 'hybrid',
      topK: top_k,
      filters: normalizeFilters(filters),
      rerank: true,
      origin: caller.userId === null ? {} : { user_id: caller.userId },
      signal,
      caller,
    })
    const passages = await addSources(results, new Map(searched.map(({ id, name }) => [id, name])))
    const text = searched.length === 0 ? formatSources([]) : formatPassages(passages)
    return { text, data: { results: passages } }
  }

  async function addSources(results: readonly Passage[], names: ReadonlyMap<string, string>): Promise<McpPassage[]> {
    const ids = new Set(results.map(({ metadata }) => metadata.document_id ?? ''))
    const documents = new Map((await lookup.getMany([...ids])).map((document) => [document.id, document]))
    return results.map(({ content, score, metadata, descriptions, stale }) => {
      const { source: document, page, place, document_id = '', headings } = metadata as Passage['metadata'] & { headings?: string }
      const source = names.get(documents.get(document_id)?.knowledge_source_id ?? '') ?? ''
      const details = { place, headings, descriptions, stale }
      return { content, document, document_id, source, page, ...details, score }
    })
  }

  /** A document that cannot be read does not affect the others. */
  async function read(
    { documents }: ToolInput<'read_document'>,
    { caller, signal }: Pick<McpCall, 'caller' | 'signal'>,
  ): Promise<McpResult> {
    const read: McpDocument[] = []
    let room = MAX_TEXT_LENGTH
    for (const range of documents) {
      const result = await readOne(range, room, caller, signal)
      room -= result.text?.length ?? 0
      read.push(result)
    }
    const [only, ...others] = read
    if (only?.error !== undefined && others.length === 0) throw new CadreError('NOT_FOUND', only.error)
    return { text: formatDocuments(read), data: { documents: read } }
  }

  async function readOne(range: DocumentRange, maxCharacters: number, caller: Caller, signal: AbortSignal): Promise<McpDocument> {
    const { document: reference, from_line = 1, from_character = 1, to_line = LAST_LINE } = range
    if (maxCharacters < MIN_ROOM)
      return { document: reference, error: `Not read: a call returns at most ${MAX_TEXT_LENGTH} characters. Read it in another call.` }
    try {
      if (to_line < from_line) throw new CadreError('VALIDATION_ERROR', 'to_line must not be less than from_line.')
      const scope = range.source === undefined ? undefined : (await findByName(knowledge, caller, range.source)).id
      const document = await lookup.require(reference, scope)
      const source = await knowledge.require(knowledge.database, caller, document.knowledge_source_id)
      const selection = { from: from_line, fromCharacter: from_character, to: to_line, maxCharacters }
      const { text, from, to, lines, nextCharacter } = await lookup.read(document, selection, signal)
      if (from > lines) throw new CadreError('VALIDATION_ERROR', `"${document.name}" has only ${lines} lines.`)
      const place = { from_line: from, to_line: to, lines, next_character: nextCharacter }
      return { document: document.name, document_id: document.id, source: source.name, text, ...place }
    } catch (error) {
      if (!(error instanceof CadreError)) throw error
      return { document: reference, error: [error.message, error.hint].filter(Boolean).join(' ') }
    }
  }

  async function list({ source: reference, page = 1 }: ToolInput<'list_sources'>, { caller }: Pick<McpCall, 'caller'>): Promise<McpResult> {
    const paging = { page, limit: PAGE_SIZE, sort: 'name', order: 'asc' as const }
    if (reference === undefined) {
      const { items, total } = await knowledge.list(caller, paging)
      const sources = await describe(items)
      const pages = Math.ceil(total / PAGE_SIZE)
      const text = pages > 1 ? `${formatSources(sources)}\nPage ${page} of ${pages}.` : formatSources(sources)
      return { text, data: { sources, total, pages } }
    }
    const source = await findByName(knowledge, caller, reference)
    const { items, total } = await lookup.list({ ...paging, knowledge_source_id: source.id })
    const documents = items.map(({ id, name, type, status }) => ({ id, name, type, status }))
    const pages = Math.ceil(total / PAGE_SIZE)
    const text = formatDocumentList(source.name, documents, page, pages)
    return { text, data: { sources: await describe([source]), documents, total, pages } }
  }

  async function describe(
    sources: readonly (Pick<McpSource, 'id' | 'name' | 'type' | 'status'> & { last_sync: string | null })[],
  ): Promise<McpSource[]> {
    const ids = sources.map(({ id }) => id)
    const counts = await knowledge.countDocuments(ids)
    const described = await knowledge.getDescriptions(ids)
    return sources.map(({ id, name, type, status, last_sync }) => {
      const { description = '', folders = {} } = described.get(id) ?? {}
      const paths = Object.entries(folders).map(([folder, text]) => ({ path: `${name}/${folder}`, description: text }))
      return {
        ...{ id, name, type, status, documents: counts.get(id)?.documents ?? 0 },
        ...(description === '' ? {} : { description }),
        ...(paths.length === 0 ? {} : { folders: paths.slice(0, MAX_LISTED_FOLDERS) }),
        ...(last_sync === null ? {} : { last_sync }),
      }
    })
  }

  return { search, read, list }
}
