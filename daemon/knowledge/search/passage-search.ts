/** Search: by meaning, by words, or both joined; filtered, without near-duplicates, and explained when asked. */
import type { Static } from 'typebox'
import type { Passage, SearchResult } from '../../../src/contract/schemas/passages.ts'
import type { CallOrigin } from '../../core/meter.ts'
import { estimateLanguageSupport } from '../../embedding/estimate-language-support.ts'
import type { EmbeddingService } from '../../embedding/service.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database } from '../../store/database.ts'
import type { Filter } from '../../store/filter.ts'
import { queryWords } from '../chunking/tokenize.ts'
import type { IndexRegistry } from '../indexes/index-registry.ts'
import { findIndex, type Index, type IndexSettings, listIndexes } from '../indexes/index-store.ts'
import type { EmbeddingLedger, OnUsage } from '../sync/embedding-ledger.ts'
import { isTextComplete } from '../sync/sync-store.ts'
import type { Synchronizer } from '../sync/synchronizer.ts'
import { deduplicatePassages } from './deduplicate-passages.ts'
import { fuseRankings, type RankedPassage } from './fuse-rankings.ts'
import { type IndexHits, isLoose } from './relevance.ts'
import { countDocuments, type DocumentDetails, findMatchingDocuments, getDocumentDetails } from './search-store.ts'

export interface SearchRequest {
  sourceIds: readonly string[]
  settings: IndexSettings
  query: string
  method: 'semantic' | 'full_text' | 'hybrid'
  topK: number
  filters: Record<string, unknown>
  threshold?: number | null
  explain?: boolean
  /** Who is charged for embedding the query. */
  origin: CallOrigin
}

type FoundPassage = Static<typeof Passage>

/** How many of each side are joined. */
const MAX_HITS_PER_METHOD = 100
/** How many of the best are looked at closely, for each that is asked for: some fall away as duplicates. */
const CANDIDATES_PER_RESULT = 3
/** The longest a query waits for the first index of a source to be complete. */
const INDEX_WAIT_MS = 15_000
/** BM25 has no upper end; this many points count as half. */
const BM25_MIDPOINT = 10

const TEXT_COLUMNS = ['id', 'document_id', 'page', 'position', 'start_at', 'end_at', 'headings', 'content']

interface Hits {
  index: Index
  semantic: Map<string, number>
  fullText: Map<string, number>
  /** How far the embedding model knows the language of the query. */
  trust: number
  rows: Map<string, PassageRow>
}

export class PassageSearch {
  readonly #database: Database
  readonly #indexes: IndexRegistry
  readonly #embedding: EmbeddingService
  readonly #ledger: EmbeddingLedger
  readonly #synchronizer: Synchronizer

  constructor(parts: {
    database: Database
    indexes: IndexRegistry
    embedding: EmbeddingService
    ledger: EmbeddingLedger
    synchronizer: Synchronizer
  }) {
    this.#database = parts.database
    this.#indexes = parts.indexes
    this.#embedding = parts.embedding
    this.#ledger = parts.ledger
    this.#synchronizer = parts.synchronizer
  }

  async search(request: SearchRequest): Promise<Static<typeof SearchResult>> {
    const clock = new StageTimer()
    const buildFilter = await this.#filter(request)
    await this.#synchronizer.waitUntilRepaired()
    for (;;) {
      const indexes = buildFilter === 'nothing' ? [] : await this.#selectIndexes(request)
      const [found] = await Promise.allSettled([this.#results(request, indexes, buildFilter as Filter | undefined, clock)])
      // An index that was replaced while it was asked answered with less than it had, or not at all: its successor is asked instead.
      if (!(await this.#indexes.allExist(this.#database, indexes))) continue
      if (found.status === 'rejected') throw found.reason
      return { query: request.query, results: found.value, ...(request.explain ? { timings: clock.getTimings() } : {}) }
    }
  }

  async #results(
    request: SearchRequest,
    indexes: readonly Index[],
    filter: Filter | undefined,
    clock: StageTimer,
  ): Promise<FoundPassage[]> {
    const hits = await Promise.all(indexes.map((index) => this.#queryIndex(index, request, filter, clock)))
    const ranked = rankHits(request.method, hits)
    return clock.measure('fetch', () => this.#loadPassages(request, hits, ranked))
  }

  /** The index that is meant; until it is complete, another of the source that is. */
  async #selectIndexes({ sourceIds, settings, method }: SearchRequest): Promise<Index[]> {
    const chosen = await Promise.all(
      sourceIds.map(async (sourceId) => {
        const wanted = await findIndex(this.#database, sourceId, settings)
        if (wanted?.ready) return wanted
        // Its embedding model was deleted by force: an index of the usual model takes its place.
        if (!wanted) await this.#synchronizer.start(sourceId, 'indexes')
        const findReadyIndex = wanted && (await this.#serving(sourceId, settings))
        if (findReadyIndex?.ready) return findReadyIndex
        return method === 'full_text' ? this.#waitForText(sourceId, settings) : this.#waitForIndex(sourceId, settings)
      }),
    )
    return chosen.filter((index) => index !== undefined)
  }

  async #waitForIndex(sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    await Promise.race([this.#synchronizer.waitUntilIdle(sourceId), startTimeout()])
    return this.#serving(sourceId, settings)
  }

  /** Words need no vectors: an index serves as soon as its text is complete. */
  async #waitForText(sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    const complete = async () => {
      const wanted = await findIndex(this.#database, sourceId, settings)
      for (const index of [...(wanted ? [wanted] : []), ...(await listIndexes(this.#database, sourceId))])
        if (await isTextComplete(this.#database, sourceId, index.id)) return index
      return undefined
    }
    const now = await complete()
    if (now) return now
    await Promise.race([this.#synchronizer.waitUntilTextReady(sourceId), startTimeout()])
    return (await complete()) ?? this.#waitForIndex(sourceId, settings)
  }

  async #serving(sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    const wanted = await findIndex(this.#database, sourceId, settings)
    if (wanted?.ready) return wanted
    const others = await listIndexes(this.#database, sourceId)
    return others.find(({ ready }) => ready === 1) ?? wanted
  }

  /** What LanceDB is asked to leave out. Names, types and metadata are looked up where documents are kept. */
  async #filter({ sourceIds, filters }: SearchRequest): Promise<Filter | undefined | 'nothing'> {
    const { page, ...rest } = filters
    const filter: Filter = page === undefined ? {} : { page: parsePages(page) }
    if (Object.keys(rest).length > 0) {
      const documents = await findMatchingDocuments(this.#database, sourceIds, rest)
      if (documents.length === 0) return 'nothing'
      // What every document fits is no filter, and naming them all would be a long one.
      if (documents.length < (await countDocuments(this.#database, sourceIds))) filter.document_id = documents
    }
    return Object.keys(filter).length === 0 ? undefined : filter
  }

  async #queryIndex(index: Index, { query, method, origin }: SearchRequest, filter: Filter | undefined, clock: StageTimer): Promise<Hits> {
    const options = { limit: MAX_HITS_PER_METHOD, ...(filter ? { filter } : {}) }
    const embedder = method === 'full_text' ? undefined : await this.#embedding.getEmbedder(index.embedding_model)
    const bySense = async () => {
      if (!embedder) return []
      const embed = (counted: OnUsage) => embedder.embed([query], { priority: 'query', onUsage: counted })
      const [vector] = await clock.measure('embed', () => this.#ledger.record(embedder, [query], origin, embed))
      return clock.measure('semantic', () =>
        this.#indexes.getVectorTable(index).searchVectors(vector as Float32Array, { ...options, columns: ['id'] }),
      )
    }
    const byWords = async () => {
      if (method === 'semantic') return []
      return clock.measure('full_text', () =>
        this.#indexes.getTextTable(index).searchText(queryWords(query), { ...options, columns: TEXT_COLUMNS }),
      )
    }
    const [near, matching] = await Promise.all([bySense(), byWords()])
    return {
      index,
      trust: embedder ? estimateLanguageSupport(embedder, query) : 1,
      semantic: new Map(near.map((row) => [row.id as string, 1 - (row._distance as number)])),
      fullText: new Map(matching.map((row) => [row.id as string, row._score as number])),
      rows: new Map(matching.map((row) => [row.id as string, row])),
    }
  }

  async #loadPassages(
    { topK, threshold, explain }: SearchRequest,
    hits: readonly Hits[],
    ranked: RankedPassage[],
  ): Promise<FoundPassage[]> {
    const best = ranked
      .filter(({ score }) => threshold === undefined || threshold === null || score >= threshold)
      .slice(0, topK * CANDIDATES_PER_RESULT)
    const rows = new Map(hits.flatMap((hit) => [...hit.rows]))
    await this.#loadMissingRows(hits, best, rows)
    const found = new Set(best.flatMap(({ id }) => (rows.get(id)?.document_id as string | undefined) ?? []))
    const facts = await getDocumentDetails(
      this.#database,
      hits.map(({ index }) => index.id),
      [...found],
    )
    const present = best.flatMap((hit) => {
      const row = rows.get(hit.id)
      const document = row && facts.get(row.document_id as string)
      return row && document ? [{ hit, row, document }] : []
    })
    const kept = deduplicatePassages(present, ({ row }) => ({
      documentId: row.document_id as string,
      start: row.start_at as number,
      end: row.end_at as number,
      content: row.content as string,
    }))
    const sides = hits.map(({ index, ...found }): IndexHits => ({ embeddingModel: index.embedding_model, ...found }))
    return kept.slice(0, topK).map(({ hit, row, document }) => ({
      ...toPassage(hit, row, document, explain === true),
      ...(isLoose(sides, hit.id) ? { loose: true } : {}),
    }))
  }

  /** Passages that only their meaning found come without their text. */
  async #loadMissingRows(hits: readonly Hits[], best: readonly RankedPassage[], rows: Map<string, PassageRow>): Promise<void> {
    await Promise.all(
      hits.map(async ({ index, semantic }) => {
        const missing = best.map(({ id }) => id).filter((id) => semantic.has(id) && !rows.has(id))
        if (missing.length === 0) return
        for (const row of await this.#indexes.getTextTable(index).list({ id: missing }, TEXT_COLUMNS)) rows.set(row.id as string, row)
      }),
    )
  }
}

/** Pages are numbers, also when they are written as text; what cannot be a page is on none. */
function parsePages(wanted: unknown): number[] {
  const numbers = [wanted]
    .flat()
    .map((value) => (typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value)) ? Number(value) : 0))
  return numbers.filter((page) => Number.isInteger(page) && page > 0 && page < 2 ** 31)
}

const startTimeout = () => new Promise<void>((resolve) => setTimeout(resolve, INDEX_WAIT_MS).unref())

function rankHits(method: SearchRequest['method'], hits: readonly Hits[]): RankedPassage[] {
  const semantic = mergeScores(hits.map((hit) => hit.semantic))
  const fullText = mergeScores(hits.map((hit) => hit.fullText))
  if (method === 'hybrid') return fuseRankings(semantic, fullText, Math.min(1, ...hits.map(({ trust }) => trust)))
  const side = method === 'semantic' ? semantic : fullText
  return [...side].map(([id, score], at) => ({
    id,
    score: method === 'semantic' ? Math.max(0, Math.min(1, score)) : score / (score + BM25_MIDPOINT),
    semanticRank: method === 'semantic' ? at + 1 : null,
    fullTextRank: method === 'full_text' ? at + 1 : null,
  }))
}

function mergeScores(sides: readonly Map<string, number>[]): Map<string, number> {
  return new Map(sides.flatMap((side) => [...side]).sort(([, a], [, b]) => b - a))
}

function toPassage(
  { score, semanticRank, fullTextRank }: RankedPassage,
  row: PassageRow,
  { name, metadata, type, content_hash }: DocumentDetails,
  explain: boolean,
): FoundPassage {
  return {
    content: row.content as string,
    score,
    metadata: {
      ...metadata,
      source: name,
      page: row.page as number,
      document_id: row.document_id as string,
      ...{ type, headings: row.headings, start: row.start_at, end: row.end_at, content_hash },
    },
    ...(explain ? { explain: { semantic_rank: semanticRank, full_text_rank: fullTextRank, fused_score: score } } : {}),
  }
}

/** Milliseconds a stage; of stages that run side by side, the longest. */
class StageTimer {
  readonly #began = performance.now()
  readonly #stages = new Map<string, number>()

  async measure<T>(stage: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    try {
      return await work()
    } finally {
      this.#stages.set(stage, Math.max(this.#stages.get(stage) ?? 0, performance.now() - began))
    }
  }

  getTimings(): Record<string, number> {
    const rounded = (ms: number) => Math.round(ms * 100) / 100
    return {
      ...Object.fromEntries([...this.#stages].map(([stage, ms]) => [stage, rounded(ms)])),
      total: rounded(performance.now() - this.#began),
    }
  }
}
