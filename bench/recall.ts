/** Nearness over 150,000 passages: how much of what comparing all of them finds the index finds too, in what share of the time, and while rows come and go. */
import { mkdirSync } from 'node:fs'
import { IndexRegistry } from '../daemon/knowledge/indexes/index-registry.ts'
import type { PassageRow } from '../daemon/store/arrow.ts'
import type { Filter } from '../daemon/store/filter.ts'
import type { PassageTable } from '../daemon/store/passage-table.ts'
import { VectorStore } from '../daemon/store/vector-store.ts'
import { homePaths } from '../src/config.ts'
import { withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'
import { ClusteredVectors } from './support/random-vectors.ts'

const PASSAGES = 150_000
const ADDED_PASSAGES = 6_000
const PASSAGES_PER_DOCUMENT = 20
const PASSAGES_PER_COMMIT = 10_000
const QUERY_COUNT = 60
/** Hybrid search joins the best 100 of each side. */
const SEARCH_LIMIT = 100

export const recall: Benchmark = {
  name: 'recall',
  run: () =>
    withHome(async (home) => {
      mkdirSync(home, { mode: 0o700 })
      const vectors = new VectorStore(homePaths({ CADRE_HOME: home }).vectors)
      try {
        return await measure(new IndexRegistry(vectors).getVectorTable({ id: 'idx_recall' } as never), new ClusteredVectors())
      } finally {
        await vectors.close()
      }
    }),
}

async function measure(table: PassageTable, spread: ClusteredVectors): Promise<Figure[]> {
  const queries = Array.from({ length: QUERY_COUNT }, () => spread.next())
  const add = async (from: number, to: number) => {
    for (let at = from; at < to; at += PASSAGES_PER_COMMIT)
      await table.add(Array.from({ length: Math.min(PASSAGES_PER_COMMIT, to - at) }, (_, row) => createPassage(at + row, spread)))
  }
  await add(0, PASSAGES)
  const began = performance.now()
  await table.optimize()
  const built = performance.now() - began
  const figures = [
    { name: `index of ${PASSAGES.toLocaleString('en')} passages made`, figure: `${(built / 1000).toFixed(1)} s` },
    ...(await compareWithExact('as built', table, queries)),
    ...(await compareWithExact('filter that leaves half', table, queries, { page: 1 })),
    // All that it leaves is compared either way; the rest of the time tells how few they are.
    ...(await compareWithExact('filter that leaves 1 of 150', table, queries, { document_id: listDocumentIds(0, 50) }, 3)),
  ]
  await add(PASSAGES, PASSAGES + ADDED_PASSAGES)
  await table.remove({ document_id: listDocumentIds(0, ADDED_PASSAGES / PASSAGES_PER_DOCUMENT) })
  figures.push(...(await compareWithExact(`${ADDED_PASSAGES.toLocaleString('en')} came, as many went`, table, queries)))
  await table.optimize()
  figures.push(...(await compareWithExact('brought up to date', table, queries)))
  return figures
}

/** In turns, so that what else the machine does falls on both alike. */
async function compareWithExact(
  when: string,
  table: PassageTable,
  queries: readonly Float32Array[],
  filter?: Filter,
  most = 0.5,
): Promise<Figure[]> {
  const options = { columns: ['id'], limit: SEARCH_LIMIT, ...(filter ? { filter } : {}) }
  const found = { ten: 0, all: 0 }
  const spent: { indexed: number[]; exact: number[] } = { indexed: [], exact: [] }
  for (const query of queries) {
    const [indexed, indexedMs] = await measureTime(() => table.searchVectors(query, options))
    const [exact, exactMs] = await measureTime(() => table.searchVectorsExactly(query, options))
    found.ten += computeRecall(indexed, exact, 10) / queries.length
    found.all += computeRecall(indexed, exact, SEARCH_LIMIT) / queries.length
    spent.indexed.push(indexedMs)
    spent.exact.push(exactMs)
  }
  const [ours, theirs] = [median(spent.indexed), median(spent.exact)]
  return [
    { name: `recall@10, ${when}`, figure: `${queries.length} queries`, ratio: found.ten, bar: { least: 0.95 } },
    { name: `recall@${SEARCH_LIMIT}, ${when}`, figure: `${queries.length} queries`, ratio: found.all, bar: { least: 0.95 } },
    {
      name: `nearest ${SEARCH_LIMIT} to exact, ${when}`,
      figure: `${formatMilliseconds(ours)} to ${formatMilliseconds(theirs)}`,
      ratio: ours / theirs,
      bar: { most },
    },
  ]
}

/** By distance, not by name: of rows that are equally near, either will do. */
function computeRecall(found: readonly PassageRow[], exact: readonly PassageRow[], count: number): number {
  const wanted = exact.slice(0, count)
  const farthest = (wanted.at(-1)?._distance as number) + 1e-6
  return found.slice(0, wanted.length).filter(({ _distance }) => (_distance as number) <= farthest).length / wanted.length
}

async function measureTime<T>(work: () => Promise<T>): Promise<[T, number]> {
  const began = performance.now()
  return [await work(), performance.now() - began]
}

const listDocumentIds = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, at) => `doc_${from + at}`)

const createPassage = (number: number, spread: ClusteredVectors): PassageRow => {
  const document = Math.floor(number / PASSAGES_PER_DOCUMENT)
  return {
    id: `doc_${document}:${number % PASSAGES_PER_DOCUMENT}`,
    document_id: `doc_${document}`,
    generation: 1,
    page: 1 + (document % 2),
    vector: spread.next(),
  }
}
