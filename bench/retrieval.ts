/** Retrieval quality (nDCG@10) of hybrid search, with reranking, of each search method and of reciprocal rank fusion. */
import { mapConcurrently } from '../daemon/async/map-concurrently.ts'
import { estimateLanguageSupport } from '../daemon/embedding/estimate-language-support.ts'
import { createRandom } from '../test/harness/create-random.ts'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import type { RetrievalSet } from './support/codebase-set.ts'
import { request, withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'
import { computeNdcg10, loadRetrievalSets } from './support/retrieval-sets.ts'
import { createSyncedSource } from './support/sync-source.ts'

/** Minimum nDCG@10 by set. */
const BARS: Record<string, number> = { codebase: 0.7, xquad_en: 0.96, xquad_zh: 0.9, pubmedqa: 0.97, own: 0.9 }
/** How much reranking must at least add to hybrid search, by set. */
const RERANK_BARS: Record<string, number> = { codebase: 0.015, xquad_zh: -0.005 }
const DEFAULT_RERANK_BAR = -0.003
/** Minimum nDCG@10 with reranking, by set. */
const RERANKED_BARS: Record<string, number> = { codebase: 0.75 }
const METHODS = ['hybrid', 'semantic', 'full_text'] as const
const CONCURRENCY = 8
const TOP_K = 50
/** As many passages as are reranked by default. */
const RERANKED_TOP_K = 10
/** Reading ten passages takes about a second of CPU, so of many queries a sample is reranked: the same one in each run. */
const MAX_RERANKED_QUERIES = 250
const SAMPLED_QUERIES = 120
const SAMPLE_SEED = 1
const DEFAULT_TOP_K = 5
const TIMED_QUERIES = 20
const CANDIDATES_PER_METHOD = 100
const RECIPROCAL_K = 60

type Method = (typeof METHODS)[number]
type Passage = { metadata: { source: string; document_id: string; start: number } }
type Search = (method: Method, query: string, top_k: number, rerank?: boolean) => Promise<Passage[]>
type Query = RetrievalSet['queries'][number]
/** Ranked passages by query. */
type Results = Map<Query, Passage[]>

export const retrieval: Benchmark = {
  name: 'retrieval',
  async run() {
    const figures: Figure[] = []
    for (const set of loadRetrievalSets()) figures.push(...(await withHome((home) => withDaemon(home, (daemon) => measure(daemon, set)))))
    return figures
  },
}

async function measure(daemon: DaemonProcess, set: RetrievalSet): Promise<Figure[]> {
  const startedAt = performance.now()
  // A run that is ended early has told these figures.
  const report = (step: string) => console.error(`  ${set.name}: ${step} after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  const search = await createSearch(daemon, await createSyncedSource(daemon, set.name, set.documents))
  report(`${set.documents.length} documents indexed`)
  const queries = set.queries.filter(({ id }) => set.relevant.has(id))
  const found = {} as Record<Method, Results>
  for (const method of METHODS) {
    found[method] = await searchAll(queries, ({ text }) => search(method, text, method === 'hybrid' ? TOP_K : CANDIDATES_PER_METHOD))
    report(`${queries.length} queries, ${method} ${computeMean(set, queries, keepFirst(found[method])).toFixed(4)}`)
  }
  const sample = drawSample(queries)
  const reranked = await searchAll(sample, ({ text }) => search('hybrid', text, RERANKED_TOP_K, true))
  const hybrid = computeMean(set, sample, found.hybrid)
  const least = Math.round((hybrid + (RERANK_BARS[set.name] ?? DEFAULT_RERANK_BAR)) * 10_000) / 10_000
  // The passages that are not reranked by default follow, because the measure needs ten documents.
  const completed = new Map(sample.map((query) => [query, [...(reranked.get(query) ?? []), ...(found.hybrid.get(query) ?? [])]]))
  report(`${sample.length} queries, hybrid ${hybrid.toFixed(4)}, reranked ${computeMean(set, sample, completed).toFixed(4)}`)
  const bar = BARS[set.name]
  return [
    ...METHODS.map((method) =>
      createFigure(set, method, queries, keepFirst(found[method]), method === 'hybrid' && bar !== undefined ? { least: bar } : undefined),
    ),
    createFigure(set, `hybrid with reranking (without ${hybrid.toFixed(4)})`, sample, completed, {
      least: Math.max(least, RERANKED_BARS[set.name] ?? 0),
    }),
    await measureDuration(set, search),
    createFigure(set, 'reciprocal rank fusion', queries, mergeByReciprocalRank(found)),
  ]
}

const keepFirst = (results: Results): Results => new Map([...results].map(([query, passages]) => [query, passages.slice(0, TOP_K)]))

/** Returns all queries if there are few, otherwise the same random ones in each run. */
function drawSample(queries: readonly Query[]): readonly Query[] {
  const random = createRandom(SAMPLE_SEED)
  const shuffled = queries.map((query) => ({ query, key: random() })).sort((a, b) => a.key - b.key)
  return queries.length <= MAX_RERANKED_QUERIES ? queries : shuffled.slice(0, SAMPLED_QUERIES).map(({ query }) => query)
}

async function createSearch(daemon: DaemonProcess, source: string): Promise<Search> {
  const tools = new Map<Method, string>()
  for (const search_method of METHODS) {
    const { data } = await request<{ data: { id: string } }>(daemon, 'POST', '/api/retrieval-tools', {
      name: search_method,
      knowledge_source_ids: [source],
      search_method,
      rerank: false,
    })
    tools.set(search_method, data.id)
  }
  return async (method, query, top_k, rerank = false) => {
    const path = `/api/retrieval-tools/${tools.get(method)}/search`
    return (await request<{ data: { results: Passage[] } }>(daemon, 'POST', path, { query, top_k, rerank })).data.results
  }
}

async function searchAll(queries: readonly Query[], search: (query: Query) => Promise<Passage[]>): Promise<Results> {
  const results: Results = new Map()
  const work = async (query: Query) => ({ query, passages: await search(query) })
  for await (const { query, passages } of mapConcurrently(queries, CONCURRENCY, work)) results.set(query, passages)
  return results
}

function createFigure(set: RetrievalSet, label: string, queries: readonly Query[], results: Results, bar?: Figure['bar']): Figure {
  const mean = computeMean(set, queries, results)
  return {
    name: `nDCG@10 of ${set.name}, ${label}`,
    figure: `${mean.toFixed(4)}, ${queries.length} queries, ${set.documents.length} documents`,
    ratio: mean,
    ...(bar ? { bar } : {}),
  }
}

function computeMean(set: RetrievalSet, queries: readonly Query[], results: Results): number {
  const scores = queries.map((query) => {
    const documents = (results.get(query) ?? []).map(({ metadata }) => metadata.source.replace(/\.md$/, ''))
    return computeNdcg10([...new Set(documents)], set.relevant.get(query.id) as Map<string, number>)
  })
  return scores.reduce((sum, value) => sum + value, 0) / scores.length
}

/** Measures both in turn, so that other load affects both. */
async function measureDuration(set: RetrievalSet, search: Search): Promise<Figure> {
  const durations = { plain: [] as number[], reranked: [] as number[] }
  for (const { text } of set.queries.slice(0, TIMED_QUERIES))
    for (const name of ['plain', 'reranked'] as const) {
      const startedAt = performance.now()
      await search('hybrid', text, DEFAULT_TOP_K, name === 'reranked')
      durations[name].push(performance.now() - startedAt)
    }
  const [plain, reranked] = [median(durations.plain), median(durations.reranked)]
  return {
    name: `duration of a hybrid search of ${set.name} with reranking, relative to without`,
    figure: `${formatMilliseconds(reranked)} to ${formatMilliseconds(plain)}`,
    ratio: reranked / plain,
  }
}

/** Merges both methods by reciprocal rank fusion, with the weights of hybrid search. */
function mergeByReciprocalRank({ semantic, full_text }: Record<'semantic' | 'full_text', Results>): Results {
  return new Map(
    [...semantic].map(([query, byMeaning]) => {
      const semanticWeight = estimateLanguageSupport({ id: 'minilm' }, query.text) / 2
      const merged = new Map<string, { passage: Passage; score: number }>()
      const rankings = [
        { passages: byMeaning, weight: semanticWeight },
        { passages: full_text.get(query) ?? [], weight: 1 - semanticWeight },
      ]
      for (const { passages, weight } of rankings)
        passages.forEach((passage, rank) => {
          const name = `${passage.metadata.document_id}:${passage.metadata.start}`
          const entry = merged.get(name) ?? { passage, score: 0 }
          merged.set(name, { passage, score: entry.score + weight / (RECIPROCAL_K + rank + 1) })
        })
      const best = [...merged.values()].sort((a, b) => b.score - a.score).slice(0, TOP_K)
      return [query, best.map(({ passage }) => passage)]
    }),
  )
}
