/**
 * Searches 100,000 passages or a million: duration of hybrid queries, memory, build time and size of the indices, and recall and speed of
 * the vector index relative to exact search, with filters and after inserts and deletes.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Embedder } from '../daemon/embedding/embedder.ts'
import { EmbeddingService } from '../daemon/embedding/service.ts'
import { getModelsDirectory } from '../daemon/inference/paths.ts'
import { IndexRegistry } from '../daemon/knowledge/passage-indexes/index-registry.ts'
import type { PassageRow } from '../daemon/store/arrow.ts'
import type { Filter } from '../daemon/store/filter.ts'
import type { PassageTable } from '../daemon/store/passage-table.ts'
import { VectorStore } from '../daemon/store/vector-store.ts'
import { homePaths } from '../src/config.ts'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { waitFor } from '../test/harness/wait-for.ts'
import { readCpuSeconds } from './support/cpu-time.ts'
import { request, withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'
import { MixedPassages, readRealQuestions } from './support/mixed-passages.ts'
import { createRows, type FilledHome, fillHome, PASSAGES_PER_DOCUMENT } from './support/passage-home.ts'

/** How much is measured. */
interface Scale {
  passages: number
  /** Passages that are embedded; the others are mixed from them. */
  realPassages: number
  recallQueries: number
  maxHybridMs: number
}

const HYBRID_QUERIES = 200
const WARM_UP_QUERIES = 20
/** Hybrid search merges the best 100 of each method. */
const SEARCH_LIMIT = 100
const MAX_MEGABYTES = 1_500
const BUILD_TIMEOUT_MS = 3_600_000

export const scale = createBenchmark('scale', { passages: 100_000, realPassages: 2_000, recallQueries: 60, maxHybridMs: 25 })
/** Takes half an hour and 8 GB, so it runs only if it is named. */
export const million: Benchmark = {
  ...createBenchmark('million', { passages: 1_000_000, realPassages: 10_000, recallQueries: 30, maxHybridMs: 50 }),
  isOptional: true,
}

function createBenchmark(name: string, size: Scale): Benchmark {
  return { name, run: () => withHome((home) => measure(home, size)) }
}

async function measure(home: string, size: Scale): Promise<Figure[]> {
  const embedding = new EmbeddingService({
    modelsDirectory: getModelsDirectory(),
    resolveRemoteModel: async () => undefined,
    logger: { debug() {}, warn() {} },
  })
  try {
    const embedder = await embedding.getEmbedder('minilm')
    const passages = await MixedPassages.load(embedder, size.realPassages)
    const filled = await fillHome(home, size.passages, passages)
    const figures = await withDaemon(home, (daemon) => measureDaemon(daemon, home, filled, size))
    return [...figures, ...(await measureRecall(home, filled, passages, embedder, size))]
  } finally {
    await embedding.close()
  }
}

/** The daemon builds the vector index after its start. */
async function measureDaemon(daemon: DaemonProcess, home: string, { source, fullTextSeconds }: FilledHome, size: Scale): Promise<Figure[]> {
  const startedAt = performance.now()
  const path = `/api/knowledge-sources/${source}`
  // A sync ends after the index that the daemon builds on its own.
  await request(daemon, 'POST', `${path}/sync`)
  const isBuilt = async () => {
    const { data } = await request<{ data: { status: string; progress: unknown } }>(daemon, 'GET', path)
    return data.status === 'active' && data.progress === null
  }
  await waitFor(isBuilt, { intervalMs: 200, timeoutMs: BUILD_TIMEOUT_MS, description: 'the vector index' })
  const buildSeconds = (performance.now() - startedAt) / 1000
  const { data: tool } = await request<{ data: { id: string } }>(daemon, 'POST', '/api/retrieval-tools', {
    name: 'scale',
    knowledge_source_ids: [source],
    search_method: 'hybrid',
    rerank: false,
  })
  const pid = daemon.child.pid as number
  const search = (filters?: object) => measureHybrid(daemon, pid, tool.id, filters)
  // Node.js compiles the code of the search during the first queries.
  const first = await search()
  const plain = await search()
  const half = await search({ page: 1 })
  const narrow = await search({ source: listNumbers(0, size.passages / PASSAGES_PER_DOCUMENT / 100).map((number) => `${number}.md`) })
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const [now, most] = ['VmRSS', 'VmHWM'].map((field) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1000) as [
    number,
    number,
  ]
  const count = size.passages.toLocaleString('en')
  return [
    { name: `full-text index of ${count} passages built`, figure: `${fullTextSeconds.toFixed(1)} s` },
    { name: `daemon started and vector index of ${count} passages built`, figure: `${buildSeconds.toFixed(1)} s` },
    { name: 'size of the home on disk', figure: `${(measureDirectory(home) / 1e6).toFixed(0)} MB` },
    {
      name: `hybrid query over HTTP, ${count} passages, median relative to ${size.maxHybridMs} ms`,
      figure: formatHybrid(plain),
      ratio: plain.medianMs / size.maxHybridMs,
      bar: { most: 1 },
    },
    { name: `the first ${HYBRID_QUERIES} after the start`, figure: formatHybrid(first) },
    { name: 'with a filter that matches half', figure: formatHybrid(half) },
    { name: 'with a filter that matches 1 of 100', figure: formatHybrid(narrow) },
    {
      name: `memory of the daemon after building and searching, relative to ${MAX_MEGABYTES} MB`,
      figure: `${now.toFixed(0)} MB, at most ${most.toFixed(0)} MB`,
      ratio: most / MAX_MEGABYTES,
      bar: { most: 1 },
    },
  ]
}

interface HybridTimes {
  medianMs: number
  p99Ms: number
  cpuMs: number
}

const formatHybrid = ({ medianMs, p99Ms, cpuMs }: HybridTimes): string =>
  `${formatMilliseconds(medianMs)}, p99 ${formatMilliseconds(p99Ms)}, CPU of the daemon ${formatMilliseconds(cpuMs)}`

async function measureHybrid(daemon: DaemonProcess, pid: number, tool: string, filters?: object): Promise<HybridTimes> {
  const spent: number[] = []
  let cpuSeconds = 0
  for (const [position, query] of readRealQuestions(HYBRID_QUERIES + WARM_UP_QUERIES).entries()) {
    if (position === WARM_UP_QUERIES) cpuSeconds = -readCpuSeconds(pid)
    const began = performance.now()
    await request(daemon, 'POST', `/api/retrieval-tools/${tool}/search`, { query, top_k: 10, ...(filters ? { filters } : {}) })
    if (position >= WARM_UP_QUERIES) spent.push(performance.now() - began)
  }
  cpuSeconds += readCpuSeconds(pid)
  const p99Ms = spent.sort((a, b) => a - b)[Math.floor(spent.length * 0.99)] as number
  return { medianMs: median(spent), p99Ms, cpuMs: (1000 * cpuSeconds) / spent.length }
}

async function measureRecall(
  home: string,
  { index }: FilledHome,
  passages: MixedPassages,
  embedder: Embedder,
  size: Scale,
): Promise<Figure[]> {
  const count = size.passages
  const changed = count / 50
  const store = new VectorStore(homePaths({ CADRE_HOME: home }).vectors)
  try {
    const table = new IndexRegistry(store).getVectorTable(index)
    const queries = await embedder.embed(readRealQuestions(size.recallQueries), { priority: 'high' })
    const compare = (when: string, filter?: Filter, most?: number) => compareWithExact(when, table, queries, filter, most)
    const figures = [
      ...(await compare('as built')),
      ...(await compare('filter that matches half', { page: 1 }, 1.5)),
      // Both searches compare all matching rows, so the ratio only shows the cost of the filter.
      ...(await compare('filter that matches 1 of 100', { document_id: listDocumentIds(0, count / PASSAGES_PER_DOCUMENT / 100) }, 3)),
    ]
    await table.add(createRows(count, count + changed, passages))
    await table.remove({ document_id: listDocumentIds(0, changed / PASSAGES_PER_DOCUMENT) })
    figures.push(...(await compare(`${changed.toLocaleString('en')} added, as many deleted`)))
    const startedAt = performance.now()
    await table.optimize()
    figures.push({ name: 'vector index updated', figure: `${((performance.now() - startedAt) / 1000).toFixed(1)} s` })
    return [...figures, ...(await compare('after optimize'))]
  } finally {
    await store.close()
  }
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
    const [exact, exactMs] = await measureTime(() => table.searchVectors(query, { ...options, probes: 'exact' }))
    found.ten += computeRecall(indexed, exact, 10) / queries.length
    found.all += computeRecall(indexed, exact, SEARCH_LIMIT) / queries.length
    spent.indexed.push(indexedMs)
    spent.exact.push(exactMs)
  }
  const [ours, theirs] = [median(spent.indexed), median(spent.exact)]
  return [
    { name: `recall@10, ${when}`, figure: `${queries.length} queries`, ratio: found.ten, bar: { least: 0.95 } },
    { name: `recall@${SEARCH_LIMIT}, ${when}`, figure: `${queries.length} queries`, ratio: found.all, bar: { least: 0.9 } },
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

const listNumbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)
const listDocumentIds = (from: number, to: number): string[] => listNumbers(from, to).map((number) => `doc_${number}`)

const measureDirectory = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
