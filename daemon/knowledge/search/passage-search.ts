/** Searches passages by meaning, by words or both, with filters and without near-duplicates. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Static } from 'typebox'
import type { SearchResult } from '../../../src/contract/schemas/passages.ts'
import type { OwnerLimit } from '../../async/owner-limit.ts'
import type { Caller } from '../../core/caller.ts'
import { findOwner, getPriority } from '../../core/find-owner.ts'
import type { CallOrigin } from '../../core/meter.ts'
import { formatPlace } from '../../core/places.ts'
import type { RetrievedPassage } from '../../core/tool.ts'
import { estimateLanguageSupport } from '../../embedding/estimate-language-support.ts'
import type { EmbeddingService } from '../../embedding/service.ts'
import type { PassageReader } from '../../inference/embedded-models.ts'
import { selectQueryWords } from '../../language/content-words.ts'
import { expandQuery } from '../../language/expand-query.ts'
import { tokenize } from '../../language/tokenize.ts'
import type { ModelsService } from '../../models/service.ts'
import type { PassageRow } from '../../store/arrow.ts'
import type { Database } from '../../store/database.ts'
import type { Filter } from '../../store/filter.ts'
import { Telemetry } from '../../telemetry/telemetry.ts'
import type { IndexRegistry } from '../passage-indexes/index-registry.ts'
import type { Index, IndexSettings } from '../passage-indexes/index-store.ts'
import { getDocumentId } from '../passage-indexes/passage-id.ts'
import type { EmbeddingLedger, OnUsage } from '../sync/embedding-ledger.ts'
import type { IndexRepair } from '../sync/recovery/index-repair.ts'
import type { Synchronizer } from '../sync/synchronizer.ts'
import type { ChangedFiles } from './changed-files.ts'
import { deduplicatePassages } from './deduplicate-passages.ts'
import { describeDocument } from './describe-document.ts'
import { fuseRankings, type RankedPassage } from './fuse-rankings.ts'
import { IndexSelector } from './index-selector.ts'
import { limitSearches } from './limit-searches.ts'
import { type IndexHits, isLoose } from './relevance.ts'
import { computeRerankWeight, RERANK_DEPTH, type RerankCandidate, rerankPassages } from './rerank-passages.ts'
import {
  countDocuments,
  type DocumentDetails,
  findMatchingDocuments,
  getDocumentDetails,
  getSourceDescriptions,
  type SourceDescriptions,
} from './search-store.ts'
import { StageTimer } from './stage-timer.ts'

export interface PassageQuery {
  sourceIds: readonly string[]
  /** Undefined to search any index of each source. */
  settings?: IndexSettings
  query: string
  method: 'semantic' | 'full_text' | 'hybrid'
  topK: number
  filters: Record<string, unknown>
  threshold?: number | null
  explain?: boolean
  rerank?: boolean
  signal?: AbortSignal
  /** The usage of embedding the query is charged to it. */
  origin: CallOrigin
  /** Must be allowed to call the embedding model. Undefined in a reply, which only a caller who may spend can request. */
  caller?: Caller | undefined
  /** Whose turn the search takes. Default: that of the caller. */
  owner?: string | undefined
}

interface PassageSearchDependencies {
  database: Database
  indexes: IndexRegistry
  embedding: EmbeddingService
  models: ModelsService
  ledger: EmbeddingLedger
  repair: IndexRepair
  synchronizer: Synchronizer
  changedFiles: ChangedFiles
  telemetry?: Telemetry
}

const MAX_HITS_PER_METHOD = 100
/** More candidates than results are loaded if needed, because duplicates are dropped. */
const CANDIDATES_PER_RESULT = 3
const SPARE_CANDIDATES = 3
/** BM25 scores have no upper bound; this score becomes 0.5. */
const BM25_MIDPOINT = 10

const TEXT_COLUMNS = ['id', 'page', 'start_at', 'end_at', 'headings', 'content']

interface Candidate extends RerankCandidate {
  hit: RankedPassage
  document: DocumentDetails
}

export class PassageSearch {
  readonly #dependencies: PassageSearchDependencies
  readonly #selector: IndexSelector
  readonly #telemetry: Telemetry
  readonly #owners: OwnerLimit

  constructor(dependencies: PassageSearchDependencies) {
    this.#dependencies = dependencies
    this.#selector = new IndexSelector(dependencies.database, dependencies.synchronizer)
    this.#telemetry = dependencies.telemetry ?? new Telemetry()
    this.#owners = limitSearches(dependencies.embedding.models)
  }

  search(request: PassageQuery): Promise<Static<typeof SearchResult>> {
    const { method, sourceIds, signal } = request
    const attributes = { 'cadre.search.method': method, 'cadre.search.sources': sourceIds.length }
    const query = { ...request, owner: request.owner ?? findOwner(request) }
    const search = () => this.#owners.run(query.owner, () => this.#search(query), signal)
    return this.#telemetry.measure('search', { labels: [method], attributes, signal }, search)
  }

  async #search(request: PassageQuery): Promise<Static<typeof SearchResult>> {
    const { database, indexes: registry, repair } = this.#dependencies
    const { sourceIds, settings, method, query, explain } = request
    const [timer, filter] = [new StageTimer(), await this.#buildFilter(request)]
    await repair.waitUntilFinished()
    for (;;) {
      const selected = await Promise.all(
        filter === 'none' ? [] : sourceIds.map((sourceId) => this.#selector.select(sourceId, settings, method === 'full_text')),
      )
      const indexes = selected.filter((index) => index !== undefined)
      const [found] = await Promise.allSettled([this.#findPassages(request, indexes, filter as Filter | undefined, timer)])
      // An index that was dropped during the query may have returned too little; its replacement is queried instead.
      if (!(await registry.allExist(database, indexes))) continue
      if (found.status === 'rejected') throw found.reason
      return { query, results: found.value, ...(explain ? { timings: timer.getTimings() } : {}) }
    }
  }

  async #findPassages(
    request: PassageQuery,
    indexes: readonly Index[],
    filter: Filter | undefined,
    timer: StageTimer,
  ): Promise<RetrievedPassage[]> {
    const { query, topK, threshold, explain, rerank = false, signal } = request
    const hits = await Promise.all(indexes.map((index) => this.#queryIndex(index, request, filter, timer)))
    const isReranked = rerank && computeRerankWeight(query) > 0
    const count = isReranked ? Math.max(topK, RERANK_DEPTH) : topK
    const candidates = await timer.measure('fetch', () => this.#loadCandidates(hits, rankHits(request, hits), count))
    const { database, changedFiles, embedding } = this.#dependencies
    const options = { signal, caller: request.owner, priority: getPriority(request) }
    const reader: PassageReader = { read: (question, texts) => embedding.models.read(question, texts, options) }
    const ranked = isReranked ? await timer.measure('rerank', () => rerankPassages(reader, query, candidates)) : candidates
    const best = ranked.filter(({ score }) => score >= (threshold ?? Number.NEGATIVE_INFINITY)).slice(0, topK)
    const described = await getSourceDescriptions(database, [...new Set(best.map(({ document }) => document.knowledge_source_id))])
    const changed = await changedFiles.find(database, [...new Set(best.map(({ row }) => row.document_id as string))])
    const isStale = ({ document: { content_hash, stored_hash }, row }: Candidate) =>
      (content_hash !== null && content_hash !== stored_hash) || changed.has(row.document_id as string)
    return best.map((candidate) => ({
      ...toPassage(candidate, explain === true),
      ...formatDescriptions(candidate.document, described),
      ...(isLoose(hits, candidate.hit.id) ? { loose: true } : {}),
      ...(isStale(candidate) ? { stale: true } : {}),
    }))
  }

  /** Builds the LanceDB filter; names, types and metadata are matched in the database. Returns 'none' if no document matches. */
  async #buildFilter({ sourceIds, filters }: PassageQuery): Promise<Filter | undefined | 'none'> {
    const { database } = this.#dependencies
    const { page, ...rest } = filters
    const filter: Filter = page === undefined ? {} : { page: parsePages(page) }
    if (Object.keys(rest).length > 0) {
      const documents = await findMatchingDocuments(database, sourceIds, rest)
      if (documents.length === 0) return 'none'
      // If every document matches, the long list of ids is omitted.
      if (documents.length < (await countDocuments(database, sourceIds))) filter.document_id = documents
    }
    return Object.keys(filter).length === 0 ? undefined : filter
  }

  async #queryIndex(index: Index, request: PassageQuery, filter: Filter | undefined, timer: StageTimer): Promise<IndexHits> {
    const { embedding, models, indexes, ledger } = this.#dependencies
    const { query, method, origin, caller } = request
    const options = { limit: MAX_HITS_PER_METHOD, filter }
    const embedder = method === 'full_text' ? undefined : await embedding.getEmbedder(index.embedding_model)
    if (embedder && caller) await models.requireMaySpend(caller, embedder.id)
    const searchByMeaning = async () => {
      if (!embedder) return []
      const embed = (onUsage: OnUsage) => embedder.embed([query], { priority: getPriority(request), caller: request.owner, onUsage })
      const table = indexes.getVectorTable(index)
      const [[vector], probes] = await Promise.all([
        timer.measure('embed', () => ledger.record(embedder, [query], origin, embed)),
        yieldToEventLoop().then(() => table.chooseProbes(filter)),
      ])
      return timer.measure('semantic', () => table.searchVectors(vector as Float32Array, { ...options, probes, columns: ['id'] }))
    }
    const searchByWords = async () => {
      if (method === 'semantic') return []
      // The query is embedded first, because vector search waits for it.
      await yieldToEventLoop()
      const table = indexes.getTextTable(index)
      const words = selectQueryWords(tokenize(query))
      const alternatives = expandQuery(query)
      return timer.measure('full_text', () => table.searchText(words, { ...options, columns: ['id'], alternatives }))
    }
    const [semantic, fullText] = await Promise.all([searchByMeaning(), searchByWords()])
    return {
      index,
      trust: embedder ? estimateLanguageSupport(embedder, query) : 1,
      semantic: new Map(semantic.map((row) => [row.id as string, 1 - (row._distance as number)])),
      fullText: new Map(fullText.map((row) => [row.id as string, row._score as number])),
    }
  }

  /** Loads the best passages without near-duplicates: a few more than needed, and the others only if these have duplicates. */
  async #loadCandidates(hits: readonly IndexHits[], ranked: readonly RankedPassage[], count: number): Promise<Candidate[]> {
    const best = ranked.slice(0, count * CANDIDATES_PER_RESULT)
    const candidates: Candidate[] = []
    let kept: Candidate[] = []
    for (let from = 0; from < best.length && kept.length < count; ) {
      const to = from + count - kept.length + SPARE_CANDIDATES
      candidates.push(...(await this.#loadPassages(hits, best.slice(from, to))))
      kept = deduplicatePassages(candidates)
      from = to
    }
    return kept.slice(0, count)
  }

  /** Omits passages whose document was deleted meanwhile. */
  async #loadPassages(hits: readonly IndexHits[], ranked: readonly RankedPassage[]): Promise<Candidate[]> {
    const rows = new Map<string, PassageRow>()
    const indexIds = hits.map(({ index }) => index.id)
    const documentIds = [...new Set(ranked.map(({ id }) => getDocumentId(id)))]
    const [details] = await Promise.all([
      // Reading the database blocks the event loop, so the tables are queried first.
      yieldToEventLoop().then(() => getDocumentDetails(this.#dependencies.database, indexIds, documentIds)),
      ...hits.map(async ({ index, semantic, fullText }) => {
        const ids = ranked.map(({ id }) => id).filter((id) => semantic.has(id) || fullText.has(id))
        const table = this.#dependencies.indexes.getTextTable(index)
        if (ids.length === 0) return
        for (const row of await table.list({ id: ids }, TEXT_COLUMNS)) {
          const id = row.id as string
          rows.set(id, { ...row, document_id: getDocumentId(id) })
        }
      }),
    ])
    return ranked.flatMap((hit) => {
      const row = rows.get(hit.id)
      const document = row && details.get(row.document_id as string)
      return row && document ? [{ hit, row, document, score: hit.score, rerankScore: null }] : []
    })
  }
}

/** Accepts numbers and numeric strings; other values match no page. */
function parsePages(value: unknown): number[] {
  const numbers = [value]
    .flat()
    .map((page) => (typeof page === 'number' || (typeof page === 'string' && /^\d+$/.test(page)) ? Number(page) : 0))
  return numbers.filter((page) => Number.isInteger(page) && page > 0 && page < 2 ** 31)
}

function rankHits({ method, query }: PassageQuery, hits: readonly IndexHits[]): RankedPassage[] {
  const semantic = mergeScores(hits.map((hit) => hit.semantic))
  const fullText = mergeScores(hits.map((hit) => hit.fullText))
  if (method === 'hybrid') return fuseRankings(query, semantic, fullText, Math.min(1, ...hits.map(({ trust }) => trust)))
  if (method === 'semantic')
    return [...semantic].map(([id, score], position) => {
      return { id, score: Math.max(0, Math.min(1, score)), semanticRank: position + 1, fullTextRank: null }
    })
  return [...fullText].map(([id, score], position) => {
    return { id, score: score / (score + BM25_MIDPOINT), semanticRank: null, fullTextRank: position + 1 }
  })
}

function mergeScores(scores: readonly Map<string, number>[]): Map<string, number> {
  return new Map(scores.flatMap((map) => [...map]).sort(([, a], [, b]) => b - a))
}

function formatDescriptions(
  { knowledge_source_id, name }: DocumentDetails,
  described: ReadonlyMap<string, SourceDescriptions>,
): Pick<RetrievedPassage, 'descriptions'> {
  const source = described.get(knowledge_source_id)
  const descriptions = source ? describeDocument(source, name) : []
  return descriptions.length > 0 ? { descriptions } : {}
}

function toPassage({ hit, row, document, score, rerankScore }: Candidate, explain: boolean): RetrievedPassage {
  const { name, metadata, type, content_hash, places } = document
  const place = formatPlace(places, row.page as number)
  const { semanticRank, fullTextRank, score: fusedScore } = hit
  const explanation = { semantic_rank: semanticRank, full_text_rank: fullTextRank, fused_score: fusedScore, rerank_score: rerankScore }
  return {
    content: row.content as string,
    score,
    metadata: {
      ...metadata,
      source: name,
      page: row.page as number,
      ...(place === undefined ? {} : { place }),
      document_id: row.document_id as string,
      ...{ type, headings: row.headings, start: row.start_at, end: row.end_at, content_hash },
    },
    ...(explain ? { explain: explanation } : {}),
  }
}
