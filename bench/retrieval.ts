/** Retrieval quality (nDCG@10) of hybrid search, with reranking, of each search method and of reciprocal rank fusion. */
import { estimateLanguageSupport } from '../daemon/embedding/estimate-language-support.ts'
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
const METHODS = ['hybrid', 'semantic', 'full_text'] as const
const CONCURRENCY = 8
const TOP_K = 50
/** As many passages as are reranked by default. */
const RERANKED_TOP_K = 10
const DEFAULT_TOP_K = 5
const TIMED_QUERIES = 50
const CANDIDATES_PER_METHOD = 100
const RECIPROCAL_K = 60

type Method = (typeof METHODS)[number]
type Passage = { metadata: { source: string; document_id: string; start: number } }
type Search = (method: Method, query: string, top_k: number, rerank?: boolean) => Promise<Passage[]>

export const retrieval: Benchmark = {
  name: 'retrieval',
  async run() {
    const figures: Figure[] = []
    for (const set of loadRetrievalSets()) figures.push(...(await withHome((home) => withDaemon(home, (daemon) => measure(daemon, set)))))
    return figures
  },
}

async function measure(daemon: DaemonProcess, set: RetrievalSet): Promise<Figure[]> {
  const search = await createSearch(daemon, await createSyncedSource(daemon, set.name, set.documents))
  const figures: Figure[] = []
  for (const method of METHODS)
    figures.push(
      await measureQuality(
        set,
        method,
        (query) => search(method, query, TOP_K),
        method === 'hybrid' && BARS[set.name] ? { least: BARS[set.name] as number } : undefined,
      ),
    )
  const least = Math.round(((figures[0]?.ratio as number) + (RERANK_BARS[set.name] ?? DEFAULT_RERANK_BAR)) * 10_000) / 10_000
  figures.push(await measureQuality(set, 'hybrid with reranking', (query) => searchWithReranking(search, query), { least }))
  figures.push(await measureDuration(set, search))
  figures.push(await measureQuality(set, 'reciprocal rank fusion', (query) => searchByReciprocalRank(search, query)))
  return figures
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

async function measureQuality(
  set: RetrievalSet,
  label: string,
  search: (query: string) => Promise<Passage[]>,
  bar?: Figure['bar'],
): Promise<Figure> {
  const queries = set.queries.filter(({ id }) => set.relevant.has(id))
  const scores: number[] = []
  for (let from = 0; from < queries.length; from += CONCURRENCY)
    scores.push(
      ...(await Promise.all(
        queries.slice(from, from + CONCURRENCY).map(async ({ id, text }) => {
          const ranked = [...new Set((await search(text)).map(({ metadata }) => metadata.source.replace(/\.md$/, '')))]
          return computeNdcg10(ranked, set.relevant.get(id) as Map<string, number>)
        }),
      )),
    )
  const mean = scores.reduce((sum, value) => sum + value, 0) / scores.length
  return {
    name: `nDCG@10 of ${set.name}, ${label}`,
    figure: `${mean.toFixed(4)}, ${scores.length} queries, ${set.documents.length} documents`,
    ratio: mean,
    ...(bar ? { bar } : {}),
  }
}

/** Adds the passages that are not reranked by default, because the measure needs ten documents. */
async function searchWithReranking(search: Search, query: string): Promise<Passage[]> {
  return [...(await search('hybrid', query, RERANKED_TOP_K, true)), ...(await search('hybrid', query, TOP_K))]
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
async function searchByReciprocalRank(search: Search, query: string): Promise<Passage[]> {
  const semanticWeight = estimateLanguageSupport({ id: 'minilm' }, query) / 2
  const merged = new Map<string, { passage: Passage; score: number }>()
  const rankings = [
    { passages: await search('semantic', query, CANDIDATES_PER_METHOD), weight: semanticWeight },
    { passages: await search('full_text', query, CANDIDATES_PER_METHOD), weight: 1 - semanticWeight },
  ]
  for (const { passages, weight } of rankings)
    passages.forEach((passage, rank) => {
      const name = `${passage.metadata.document_id}:${passage.metadata.start}`
      const entry = merged.get(name) ?? { passage, score: 0 }
      merged.set(name, { passage, score: entry.score + weight / (RECIPROCAL_K + rank + 1) })
    })
  return [...merged.values()]
    .sort((a, b) => b.score - a.score)
    .slice(0, TOP_K)
    .map(({ passage }) => passage)
}
