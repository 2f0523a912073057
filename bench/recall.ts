/** Recall and speed of the vector index on 150,000 passages, relative to exact search, also after inserts and deletes. */
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
/** Hybrid search merges the best 100 of each method. */
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

async function measure(table: PassageTable, vectors: ClusteredVectors): Promise<Figure[]> {
  const queries = Array.from({ length: QUERY_COUNT }, () => vectors.next())
  const add = async (from: number, to: number) => {
    for (let start = from; start < to; start += PASSAGES_PER_COMMIT)
      await table.add(Array.from({ length: Math.min(PASSAGES_PER_COMMIT, to - start) }, (_, row) => createPassage(start + row, vectors)))
  }
  await add(0, PASSAGES)
  const startedAt = performance.now()
  await table.optimize()
  const buildMs = performance.now() - startedAt
  const figures = [
    { name: `index of ${PASSAGES.toLocaleString('en')} passages built`, figure: `${(buildMs / 1000).toFixed(1)} s` },
    ...(await compareWithExact('as built', table, queries)),
    ...(await compareWithExact('filter that matches half', table, queries, { page: 1 })),
    // Both searches compare all matching rows, so the ratio only shows the cost of the filter.
    ...(await compareWithExact('filter that matches 1 of 150', table, queries, { document_id: listDocumentIds(0, 50) }, 3)),
  ]
  await add(PASSAGES, PASSAGES + ADDED_PASSAGES)
  await table.remove({ document_id: listDocumentIds(0, ADDED_PASSAGES / PASSAGES_PER_DOCUMENT) })
  figures.push(...(await compareWithExact(`${ADDED_PASSAGES.toLocaleString('en')} added, as many deleted`, table, queries)))
  await table.optimize()
  figures.push(...(await compareWithExact('after optimize', table, queries)))
  return figures
}

/** Alternates between both searches, so that other load affects both. */
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
      name: `nearest ${SEARCH_LIMIT}, relative to exact, ${when}`,
      figure: `${formatMilliseconds(ours)} to ${formatMilliseconds(theirs)}`,
      ratio: ours / theirs,
      bar: { most },
    },
  ]
}

/** Compares distances, because equally near rows are interchangeable. */
function computeRecall(found: readonly PassageRow[], exact: readonly PassageRow[], count: number): number {
  const wanted = exact.slice(0, count)
  const farthest = (wanted.at(-1)?._distance as number) + 1e-6
  return found.slice(0, wanted.length).filter(({ _distance }) => (_distance as number) <= farthest).length / wanted.length
}

async function measureTime<T>(work: () => Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now()
  return [await work(), performance.now() - startedAt]
}

const listDocumentIds = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, index) => `doc_${from + index}`)

const createPassage = (number: number, vectors: ClusteredVectors): PassageRow => {
  const document = Math.floor(number / PASSAGES_PER_DOCUMENT)
  return {
    id: `doc_${document}:${number % PASSAGES_PER_DOCUMENT}`,
    document_id: `doc_${document}`,
    generation: 1,
    page: 1 + (document % 2),
    vector: vectors.next(),
  }
}
