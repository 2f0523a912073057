/** Duration of a hybrid search over 100,000 passages, relative to its embedding and store queries alone. */
import { mkdirSync } from 'node:fs'
import { EventBus } from '../daemon/core/event-bus.ts'
import { EmbeddingService } from '../daemon/embedding/service.ts'
import { getModelsDirectory } from '../daemon/inference/paths.ts'
import { IndexRegistry } from '../daemon/knowledge/passage-indexes/index-registry.ts'
import type { Index } from '../daemon/knowledge/passage-indexes/index-store.ts'
import { ChangedFiles } from '../daemon/knowledge/search/changed-files.ts'
import { PassageSearch } from '../daemon/knowledge/search/passage-search.ts'
import { EmbeddingLedger } from '../daemon/knowledge/sync/embedding-ledger.ts'
import { tokenize } from '../daemon/language/tokenize.ts'
import { type Database, openDatabase } from '../daemon/store/database.ts'
import { migrate } from '../daemon/store/migrate.ts'
import { VectorStore } from '../daemon/store/vector-store.ts'
import { UsageMeter } from '../daemon/usage/usage-meter.ts'
import { homePaths } from '../src/config.ts'
import { DEFAULT_CHUNKING } from '../src/contract/schemas/passages.ts'
import { withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'

const PASSAGES = 100_000
const PASSAGES_PER_DOCUMENT = 20
const PASSAGES_PER_COMMIT = 10_000
const DIMENSIONS = 384
const ROUNDS = 60
const VOCABULARY = 20_000

export const search: Benchmark = {
  name: 'search',
  run: () =>
    withHome(async (home) => {
      mkdirSync(home, { mode: 0o700 })
      const paths = homePaths({ CADRE_HOME: home })
      const database = openDatabase(paths.database)
      await migrate(database)
      const vectors = new VectorStore(paths.vectors)
      const indexes = new IndexRegistry(vectors)
      const embedding = new EmbeddingService({
        modelsDirectory: getModelsDirectory(),
        resolveRemoteModel: async () => undefined,
        logger: { info() {}, warn() {}, error() {} } as never,
      })
      try {
        const index = await insertPassages(database, indexes)
        return await compare({ database, indexes, embedding, index })
      } finally {
        await embedding.close()
        await vectors.close()
        await database.close()
      }
    }),
}

interface SearchDependencies {
  database: Database
  indexes: IndexRegistry
  embedding: EmbeddingService
  index: Index
}

async function compare({ database, indexes, embedding, index }: SearchDependencies): Promise<Figure[]> {
  const meter = new UsageMeter({ database, events: new EventBus(), now: () => new Date() })
  const models = { getMeteredModel: async (_: unknown, id: string) => ({ id, price: { input: 0, output: 0 } }) } as never
  const ledger = new EmbeddingLedger({ database, meter, models, logger: { error() {} } as never })
  const search = new PassageSearch({
    database,
    indexes,
    embedding,
    models,
    ledger,
    repair: { waitUntilFinished: async () => undefined } as never,
    synchronizer: {} as never,
    changedFiles: new ChangedFiles(),
  })
  const embedder = await embedding.getEmbedder('minilm')
  const [bare, hybrid]: [number[], number[]] = [[], []]
  for (let round = -10; round < ROUNDS; round++) {
    const query = Array.from({ length: 6 }, (_, at) => createWord(round * 31 + at * 977 + 5_000)).join(' ')
    const bareMs = await measureTime(async () => {
      const [[vector], matching] = await Promise.all([
        embedder.embed([query], { priority: 'high' }),
        indexes.getTextTable(index).searchText(tokenize(query), { columns: ['id', 'content'], limit: 100 }),
      ])
      const near = await indexes.getVectorTable(index).searchVectors(vector as Float32Array, { columns: ['id'], limit: 100 })
      await indexes
        .getTextTable(index)
        .list({ id: [...near.slice(0, 8), ...matching.slice(0, 2)].map(({ id }) => id as string) }, ['id', 'content'])
    })
    const hybridMs = await measureTime(() =>
      search.search({ sourceIds: ['source'], settings: DEFAULT_CHUNKING, query, method: 'hybrid', topK: 5, filters: {}, origin: {} }),
    )
    if (round < 0) continue
    bare.push(bareMs)
    hybrid.push(hybridMs)
  }
  const [ofBare, ofHybrid] = [median(bare), median(hybrid)]
  return [
    {
      name: `hybrid query, ${PASSAGES.toLocaleString('en')} passages, relative to its store queries and embedding`,
      figure: `${formatMilliseconds(ofHybrid)} to ${formatMilliseconds(ofBare)}`,
      ratio: ofHybrid / ofBare,
      bar: { most: 1.3 },
    },
  ]
}

async function measureTime(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** Writes rows directly to the stores, because embedding 100,000 passages would take an hour. */
async function insertPassages(database: Database, indexes: IndexRegistry): Promise<Index> {
  const now = new Date().toISOString()
  const index = await database.write(async (transaction) => {
    await transaction.run(
      `INSERT INTO knowledge_sources (id, name, type, status, configuration, created_at, updated_at)
      VALUES ('source', 'source', 'file', 'active', '{}', ?, ?)`,
      [now, now],
    )
    for (let number = 0; number < PASSAGES / PASSAGES_PER_DOCUMENT; number++) {
      await transaction.run(
        `INSERT INTO documents (id, knowledge_source_id, name, type, size, content_hash, status, chunks, metadata, created_at, updated_at)
        VALUES (?, 'source', ?, 'md', 1, ?, 'indexed', ?, '{}', ?, ?)`,
        [`doc_${number}`, `${number}.md`, String(number), PASSAGES_PER_DOCUMENT, now, now],
      )
    }
    const created = await indexes.ensure(transaction, 'source', DEFAULT_CHUNKING)
    await transaction.run('UPDATE indexes SET ready = 1 WHERE id = ?', [created.id])
    return { ...created, ready: 1 }
  })
  for (let from = 0; from < PASSAGES; from += PASSAGES_PER_COMMIT) {
    const rows = Array.from({ length: PASSAGES_PER_COMMIT }, (_, at) => createPassage(from + at))
    await indexes.getTextTable(index).add(rows.map(({ vector: _, ...row }) => row))
    await indexes
      .getVectorTable(index)
      .add(rows.map(({ id, document_id, page, generation, vector }) => ({ id, document_id, page, generation, vector })))
  }
  await indexes.getTextTable(index).optimize()
  await indexes.getVectorTable(index).optimize()
  return index
}

function createPassage(number: number) {
  const document = `doc_${Math.floor(number / PASSAGES_PER_DOCUMENT)}`
  const content = Array.from({ length: 110 }, (_, at) => createWord(number * 7919 + at * 104_729)).join(' ')
  return {
    id: `${document}:${number % PASSAGES_PER_DOCUMENT}`,
    document_id: document,
    generation: 1,
    page: 1,
    position: number % PASSAGES_PER_DOCUMENT,
    start_at: (number % PASSAGES_PER_DOCUMENT) * 800,
    end_at: (number % PASSAGES_PER_DOCUMENT) * 800 + 800,
    headings: '',
    content,
    words: content,
    vector: createUnitVector(number),
  }
}

/** Words with a distribution like that of a language: few are common, most are rare. */
function createWord(seed: number): string {
  const share = (Math.imul(Math.abs(seed) + 1, 2_654_435_761) >>> 0) / 2 ** 32
  return `w${Math.floor(VOCABULARY ** share)}`
}

function createUnitVector(seed: number): Float32Array {
  let state = (seed + 1) | 0
  const vector = Float32Array.from({ length: DIMENSIONS }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31
  })
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}
