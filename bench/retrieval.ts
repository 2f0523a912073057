/** Quality: how high hybrid search at its default settings puts the documents that answer a question. */

import { ndcg10, retrievalSets } from './corpora.ts'
import { type RunningDaemon, request, withDaemon, withHome } from './daemon.ts'
import type { Bench, Figure } from './figures.ts'
import type { RetrievalSet } from './own-set.ts'
import { synced } from './syncing.ts'

/** Least nDCG@10 on the sets that have a bar. */
const BARS: Record<string, number> = { codebase: 0.7, xquad_en: 0.96, xquad_zh: 0.9, pubmedqa: 0.97, own: 0.9 }
const METHODS = ['hybrid', 'semantic', 'full_text'] as const
const AT_ONCE = 8

export const retrieval: Bench = {
  name: 'retrieval',
  async run() {
    const figures: Figure[] = []
    for (const set of retrievalSets()) figures.push(...(await withHome((home) => withDaemon(home, (daemon) => measure(daemon, set)))))
    return figures
  },
}

async function measure(daemon: RunningDaemon, set: RetrievalSet): Promise<Figure[]> {
  const source = await synced(daemon, set.name, set.documents)
  const figures: Figure[] = []
  for (const search_method of METHODS) {
    const tool = await request<{ data: { id: string } }>(daemon, 'POST', '/api/retrieval-tools', {
      name: search_method,
      knowledge_source_ids: [source],
      search_method,
    })
    const scores: number[] = []
    const asked = set.queries.filter(({ id }) => set.relevant.has(id))
    for (let from = 0; from < asked.length; from += AT_ONCE)
      scores.push(...(await Promise.all(asked.slice(from, from + AT_ONCE).map((query) => score(daemon, tool.data.id, set, query)))))
    const mean = scores.reduce((sum, value) => sum + value, 0) / scores.length
    const bar = search_method === 'hybrid' ? BARS[set.name] : undefined
    figures.push({
      name: `nDCG@10 of ${set.name}, ${search_method}`,
      figure: `${scores.length} queries, ${set.documents.length} documents`,
      ratio: mean,
      ...(bar ? { bar: { least: bar } } : {}),
    })
  }
  return figures
}

interface Results {
  data: { results: { metadata: { source: string } }[] }
}

async function score(daemon: RunningDaemon, toolId: string, set: RetrievalSet, { id, text }: { id: string; text: string }): Promise<number> {
  const { data } = await request<Results>(daemon, 'POST', `/api/retrieval-tools/${toolId}/search`, { query: text, top_k: 50 })
  const ranked = [...new Set(data.results.map(({ metadata }) => metadata.source.replace(/\.md$/, '')))]
  return ndcg10(ranked, set.relevant.get(id) as Map<string, number>)
}
