/** Nearness over 150,000 passages: how much of what comparing all of them finds the index finds too, in what share of the time, and while rows come and go. */
import { mkdirSync } from 'node:fs'
import { IndexRegistry } from '../daemon/knowledge/indexes/index-registry.ts'
import type { PassageRow } from '../daemon/store/arrow.ts'
import type { Filter } from '../daemon/store/filter.ts'
import type { PassageTable } from '../daemon/store/passage-table.ts'
import { VectorStore } from '../daemon/store/vector-store.ts'
import { homePaths } from '../src/config.ts'
import { withHome } from './support/daemon.ts'
import { type Bench, type Figure, median, milliseconds } from './support/figures.ts'
import { Spread } from './support/random-vectors.ts'

const PASSAGES = 150_000
const LATER = 6_000
const A_DOCUMENT = 20
const A_COMMIT = 10_000
const QUERIES = 60
/** Hybrid search joins the best 100 of each side. */
const A_SIDE = 100

export const recall: Bench = {
  name: 'recall',
  run: () =>
    withHome(async (home) => {
      mkdirSync(home, { mode: 0o700 })
      const vectors = new VectorStore(homePaths({ CADRE_HOME: home }).vectors)
      try {
        return await measure(new IndexRegistry(vectors).getVectorTable({ id: 'idx_recall' } as never), new Spread())
      } finally {
        await vectors.close()
      }
    }),
}

async function measure(table: PassageTable, spread: Spread): Promise<Figure[]> {
  const queries = Array.from({ length: QUERIES }, () => spread.next())
  const add = async (from: number, to: number) => {
    for (let at = from; at < to; at += A_COMMIT)
      await table.add(Array.from({ length: Math.min(A_COMMIT, to - at) }, (_, row) => passage(at + row, spread)))
  }
  await add(0, PASSAGES)
  const began = performance.now()
  await table.optimize()
  const built = performance.now() - began
  const figures = [
    { name: `index of ${PASSAGES.toLocaleString('en')} passages made`, figure: `${(built / 1000).toFixed(1)} s` },
    ...(await compared('as built', table, queries)),
    ...(await compared('filter that leaves half', table, queries, { page: 1 })),
    // All that it leaves is compared either way; the rest of the time tells how few they are.
    ...(await compared('filter that leaves 1 of 150', table, queries, { document_id: documents(0, 50) }, 3)),
  ]
  await add(PASSAGES, PASSAGES + LATER)
  await table.remove({ document_id: documents(0, LATER / A_DOCUMENT) })
  figures.push(...(await compared(`${LATER.toLocaleString('en')} came, as many went`, table, queries)))
  await table.optimize()
  figures.push(...(await compared('brought up to date', table, queries)))
  return figures
}

/** In turns, so that what else the machine does falls on both alike. */
async function compared(
  when: string,
  table: PassageTable,
  queries: readonly Float32Array[],
  filter?: Filter,
  most = 0.5,
): Promise<Figure[]> {
  const options = { columns: ['id'], limit: A_SIDE, ...(filter ? { filter } : {}) }
  const found = { ten: 0, all: 0 }
  const spent: { indexed: number[]; exact: number[] } = { indexed: [], exact: [] }
  for (const query of queries) {
    const [indexed, indexedMs] = await timed(() => table.searchVectors(query, options))
    const [exact, exactMs] = await timed(() => table.searchVectorsExactly(query, options))
    found.ten += share(indexed, exact, 10) / queries.length
    found.all += share(indexed, exact, A_SIDE) / queries.length
    spent.indexed.push(indexedMs)
    spent.exact.push(exactMs)
  }
  const [ours, theirs] = [median(spent.indexed), median(spent.exact)]
  return [
    { name: `recall@10, ${when}`, figure: `${queries.length} queries`, ratio: found.ten, bar: { least: 0.95 } },
    { name: `recall@${A_SIDE}, ${when}`, figure: `${queries.length} queries`, ratio: found.all, bar: { least: 0.95 } },
    {
      name: `nearest ${A_SIDE} to exact, ${when}`,
      figure: `${milliseconds(ours)} to ${milliseconds(theirs)}`,
      ratio: ours / theirs,
      bar: { most },
    },
  ]
}

/** By distance, not by name: of rows that are equally near, either will do. */
function share(found: readonly PassageRow[], exact: readonly PassageRow[], count: number): number {
  const wanted = exact.slice(0, count)
  const farthest = (wanted.at(-1)?._distance as number) + 1e-6
  return found.slice(0, wanted.length).filter(({ _distance }) => (_distance as number) <= farthest).length / wanted.length
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const began = performance.now()
  return [await work(), performance.now() - began]
}

const documents = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, at) => `doc_${from + at}`)

const passage = (number: number, spread: Spread): PassageRow => {
  const document = Math.floor(number / A_DOCUMENT)
  return {
    id: `doc_${document}:${number % A_DOCUMENT}`,
    document_id: `doc_${document}`,
    generation: 1,
    page: 1 + (document % 2),
    vector: spread.next(),
  }
}
