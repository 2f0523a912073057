/** Search: by meaning, by words, or both joined; filtered, without near-duplicates, and explained when asked. */
import type { Static } from 'typebox'
import type { Passage, SearchResult } from '../../../src/contract/schemas/passages.ts'
import type { CallOrigin } from '../../core/meter.ts'
import { fluency } from '../../embedding/fluency.ts'
import type { EmbeddingService } from '../../embedding/service.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database } from '../../store/database.ts'
import type { Filter } from '../../store/filter.ts'
import { queryWords } from '../chunking/tokenize.ts'
import { findIndex, type Index, type IndexSettings, indexesOf } from '../indexes/index-store.ts'
import type { Indexes } from '../indexes/indexes.ts'
import type { Counted, EmbeddingLedger } from '../sync/embedding-ledger.ts'
import { textComplete } from '../sync/sync-store.ts'
import type { Synchronizer } from '../sync/synchronizer.ts'
import { withoutDuplicates } from './deduplicate.ts'
import { type Fused, fuse } from './fusion.ts'
import { isLoose, type Sides } from './relevance.ts'
import { countDocuments, type DocumentFacts, documentFacts, matchingDocuments } from './search-store.ts'

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
const A_SIDE = 100
/** How many of the best are looked at closely, for each that is asked for: some fall away as duplicates. */
const SPARE = 3
/** The longest a query waits for the first index of a source to be complete. */
const PATIENCE_MS = 15_000
/** BM25 has no upper end; this many points count as half. */
const HALF_BM25 = 10

const TEXT_COLUMNS = ['id', 'document_id', 'page', 'position', 'start_at', 'end_at', 'headings', 'content']

interface Hits {
  index: Index
  semantic: Map<string, number>
  fullText: Map<string, number>
  /** How far the embedding model knows the language of the query. */
  trust: number
  rows: Map<string, PassageRow>
}

export class Search {
  readonly #database: Database
  readonly #indexes: Indexes
  readonly #embedding: EmbeddingService
  readonly #ledger: EmbeddingLedger
  readonly #synchronizer: Synchronizer

  constructor(parts: {
    database: Database
    indexes: Indexes
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
    const clock = new StageClock()
    const filter = await this.#filter(request)
    await this.#synchronizer.mended()
    for (;;) {
      const indexes = filter === 'nothing' ? [] : await this.#chosen(request)
      const [found] = await Promise.allSettled([this.#results(request, indexes, filter as Filter | undefined, clock)])
      // An index that was replaced while it was asked answered with less than it had, or not at all: its successor is asked instead.
      if (!(await this.#indexes.stand(this.#database, indexes))) continue
      if (found.status === 'rejected') throw found.reason
      return { query: request.query, results: found.value, ...(request.explain ? { timings: clock.timings() } : {}) }
    }
  }

  async #results(
    request: SearchRequest,
    indexes: readonly Index[],
    filter: Filter | undefined,
    clock: StageClock,
  ): Promise<FoundPassage[]> {
    const hits = await Promise.all(indexes.map((index) => this.#ask(index, request, filter, clock)))
    const ranked = rank(request.method, hits)
    return clock.time('fetch', () => this.#passages(request, hits, ranked))
  }

  /** The index that is meant; until it is complete, another of the source that is. */
  async #chosen({ sourceIds, settings, method }: SearchRequest): Promise<Index[]> {
    const chosen = await Promise.all(
      sourceIds.map(async (sourceId) => {
        const wanted = await findIndex(this.#database, sourceId, settings)
        if (wanted?.ready) return wanted
        // Its embedding model was deleted by force: an index of the usual model takes its place.
        if (!wanted) await this.#synchronizer.start(sourceId, 'indexes')
        const serving = wanted && (await this.#serving(sourceId, settings))
        if (serving?.ready) return serving
        return method === 'full_text' ? this.#readable(sourceId, settings) : this.#patiently(sourceId, settings)
      }),
    )
    return chosen.filter((index) => index !== undefined)
  }

  async #patiently(sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    await Promise.race([this.#synchronizer.idle(sourceId), patience()])
    return this.#serving(sourceId, settings)
  }

  /** Words need no vectors: an index serves as soon as its text is complete. */
  async #readable(sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    const complete = async () => {
      const wanted = await findIndex(this.#database, sourceId, settings)
      for (const index of [...(wanted ? [wanted] : []), ...(await indexesOf(this.#database, sourceId))])
        if (await textComplete(this.#database, sourceId, index.id)) return index
      return undefined
    }
    const now = await complete()
    if (now) return now
    await Promise.race([this.#synchronizer.read(sourceId), patience()])
    return (await complete()) ?? this.#patiently(sourceId, settings)
  }

  async #serving(sourceId: string, settings: IndexSettings): Promise<Index | undefined> {
    const wanted = await findIndex(this.#database, sourceId, settings)
    if (wanted?.ready) return wanted
    const others = await indexesOf(this.#database, sourceId)
    return others.find(({ ready }) => ready === 1) ?? wanted
  }

  /** What LanceDB is asked to leave out. Names, types and metadata are looked up where documents are kept. */
  async #filter({ sourceIds, filters }: SearchRequest): Promise<Filter | undefined | 'nothing'> {
    const { page, ...rest } = filters
    const filter: Filter = page === undefined ? {} : { page: pagesOf(page) }
    if (Object.keys(rest).length > 0) {
      const documents = await matchingDocuments(this.#database, sourceIds, rest)
      if (documents.length === 0) return 'nothing'
      // What every document fits is no filter, and naming them all would be a long one.
      if (documents.length < (await countDocuments(this.#database, sourceIds))) filter.document_id = documents
    }
    return Object.keys(filter).length === 0 ? undefined : filter
  }

  async #ask(index: Index, { query, method, origin }: SearchRequest, filter: Filter | undefined, clock: StageClock): Promise<Hits> {
    const options = { limit: A_SIDE, ...(filter ? { filter } : {}) }
    const embedder = method === 'full_text' ? undefined : await this.#embedding.embedder(index.embedding_model)
    const bySense = async () => {
      if (!embedder) return []
      const embed = (counted: Counted) => embedder.embed([query], { priority: 'query', counted })
      const [vector] = await clock.time('embed', () => this.#ledger.entered(embedder, [query], origin, embed))
      return clock.time('semantic', () => this.#indexes.vectors(index).nearest(vector as Float32Array, { ...options, columns: ['id'] }))
    }
    const byWords = async () => {
      if (method === 'semantic') return []
      return clock.time('full_text', () => this.#indexes.text(index).matching(queryWords(query), { ...options, columns: TEXT_COLUMNS }))
    }
    const [near, matching] = await Promise.all([bySense(), byWords()])
    return {
      index,
      trust: embedder ? fluency(embedder, query) : 1,
      semantic: new Map(near.map((row) => [row.id as string, 1 - (row._distance as number)])),
      fullText: new Map(matching.map((row) => [row.id as string, row._score as number])),
      rows: new Map(matching.map((row) => [row.id as string, row])),
    }
  }

  async #passages({ topK, threshold, explain }: SearchRequest, hits: readonly Hits[], ranked: Fused[]): Promise<FoundPassage[]> {
    const best = ranked.filter(({ score }) => threshold === undefined || threshold === null || score >= threshold).slice(0, topK * SPARE)
    const rows = new Map(hits.flatMap((hit) => [...hit.rows]))
    await this.#fill(hits, best, rows)
    const found = new Set(best.flatMap(({ id }) => (rows.get(id)?.document_id as string | undefined) ?? []))
    const facts = await documentFacts(
      this.#database,
      hits.map(({ index }) => index.id),
      [...found],
    )
    const present = best.flatMap((hit) => {
      const row = rows.get(hit.id)
      const document = row && facts.get(row.document_id as string)
      return row && document ? [{ hit, row, document }] : []
    })
    const kept = withoutDuplicates(present, ({ row }) => ({
      documentId: row.document_id as string,
      start: row.start_at as number,
      end: row.end_at as number,
      content: row.content as string,
    }))
    const sides = hits.map(({ index, ...found }): Sides => ({ embeddingModel: index.embedding_model, ...found }))
    return kept.slice(0, topK).map(({ hit, row, document }) => ({
      ...shown(hit, row, document, explain === true),
      ...(isLoose(sides, hit.id) ? { loose: true } : {}),
    }))
  }

  /** Passages that only their meaning found come without their text. */
  async #fill(hits: readonly Hits[], best: readonly Fused[], rows: Map<string, PassageRow>): Promise<void> {
    await Promise.all(
      hits.map(async ({ index, semantic }) => {
        const missing = best.map(({ id }) => id).filter((id) => semantic.has(id) && !rows.has(id))
        if (missing.length === 0) return
        for (const row of await this.#indexes.text(index).where({ id: missing }, TEXT_COLUMNS)) rows.set(row.id as string, row)
      }),
    )
  }
}

/** Pages are numbers, also when they are written as text; what cannot be a page is on none. */
function pagesOf(wanted: unknown): number[] {
  const numbers = [wanted]
    .flat()
    .map((value) => (typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value)) ? Number(value) : 0))
  return numbers.filter((page) => Number.isInteger(page) && page > 0 && page < 2 ** 31)
}

const patience = () => new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS).unref())

function rank(method: SearchRequest['method'], hits: readonly Hits[]): Fused[] {
  const semantic = merged(hits.map((hit) => hit.semantic))
  const fullText = merged(hits.map((hit) => hit.fullText))
  if (method === 'hybrid') return fuse(semantic, fullText, Math.min(1, ...hits.map(({ trust }) => trust)))
  const side = method === 'semantic' ? semantic : fullText
  return [...side].map(([id, score], at) => ({
    id,
    score: method === 'semantic' ? Math.max(0, Math.min(1, score)) : score / (score + HALF_BM25),
    semanticRank: method === 'semantic' ? at + 1 : null,
    fullTextRank: method === 'full_text' ? at + 1 : null,
  }))
}

function merged(sides: readonly Map<string, number>[]): Map<string, number> {
  return new Map(sides.flatMap((side) => [...side]).sort(([, a], [, b]) => b - a))
}

function shown(
  { score, semanticRank, fullTextRank }: Fused,
  row: PassageRow,
  { name, metadata, type, content_hash }: DocumentFacts,
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
class StageClock {
  readonly #began = performance.now()
  readonly #stages = new Map<string, number>()

  async time<T>(stage: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    try {
      return await work()
    } finally {
      this.#stages.set(stage, Math.max(this.#stages.get(stage) ?? 0, performance.now() - began))
    }
  }

  timings(): Record<string, number> {
    const rounded = (ms: number) => Math.round(ms * 100) / 100
    return {
      ...Object.fromEntries([...this.#stages].map(([stage, ms]) => [stage, rounded(ms)])),
      total: rounded(performance.now() - this.#began),
    }
  }
}
