/** Duration of a sync, relative to embedding alone, of a second sync, and until full-text search finds the documents. */

import { EmbeddingService } from '../daemon/embedding/service.ts'
import { getModelsDirectory } from '../daemon/inference/paths.ts'
import { generatePassages } from '../daemon/knowledge/chunking/chunk-document.ts'
import { DEFAULT_CHUNKING } from '../src/contract/schemas/passages.ts'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds } from './support/figures.ts'
import { createSource, measureSync, type SyncTimes } from './support/sync-source.ts'

const DOCUMENTS = 1_000
const WORDS = (
  'the agent answers from documents with a citation that names page and source so people trust what they read ' +
  'and find it again when rules change for travel leave security and pay in every office of the company'
).split(' ')

/** The shortest time of these rounds counts, because the speed of a shared processor changes within seconds. */
const ROUNDS = 3

interface Round {
  first: SyncTimes
  secondMs: number
  embeddingMs: number
}

export const ingest: Benchmark = {
  name: 'ingest',
  async run(): Promise<Figure[]> {
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await withHome((home) => withDaemon(home, measureRound)))
    const findShortest = (measure: (round: Round) => number) => Math.min(...rounds.map(measure))
    const sync = findShortest(({ first }) => first.totalMs)
    const searchable = findShortest(({ first }) => first.searchableMs)
    const second = findShortest(({ secondMs }) => secondMs)
    const embedding = findShortest(({ embeddingMs }) => embeddingMs)
    return [
      {
        name: 'sync, relative to embedding alone',
        figure: `${formatMilliseconds(sync)} to ${formatMilliseconds(embedding)} for ${rounds[0]?.first.chunks} chunks`,
        ratio: sync / embedding,
        bar: { most: 1.15 },
      },
      {
        name: 'second sync, relative to the first',
        figure: formatMilliseconds(second),
        ratio: second / sync,
        bar: { most: 0.02 },
      },
      {
        name: 'time to full-text search, relative to the sync',
        figure: formatMilliseconds(searchable),
        ratio: searchable / sync,
        bar: { most: 0.1 },
      },
    ]
  },
}

async function measureRound(daemon: DaemonProcess): Promise<Round> {
  const documents = Array.from({ length: DOCUMENTS }, (_, number) => ({ id: `document-${number}`, text: createText(number) }))
  const source = await createSource(daemon, 'ingest', documents)
  const first = await measureSync(daemon, source)
  const { totalMs: secondMs } = await measureSync(daemon, source)
  return { first, secondMs, embeddingMs: await measureEmbedding(documents.map(({ text }) => text)) }
}

/** Returns about 700 characters, different for every number: one passage at the default settings. */
function createText(number: number): string {
  const sentences = Array.from({ length: 8 }, (_, sentence) => {
    const words = Array.from({ length: 15 }, (_, word) => WORDS[(number * 7 + sentence * 13 + word * (1 + (number % 11))) % WORDS.length])
    return `${words.join(' ')} ${number}.`
  })
  return `# Document ${number}\n\n${sentences.join(' ')}`
}

/** Embeds the same passages with the same model and number of workers. Returns the milliseconds. */
async function measureEmbedding(texts: readonly string[]): Promise<number> {
  const service = new EmbeddingService({
    modelsDirectory: getModelsDirectory(),
    resolveRemoteModel: async () => undefined,
    logger: { debug() {}, warn() {} },
  })
  const embedder = await service.getEmbedder('minilm')
  const settings = { size: DEFAULT_CHUNKING.chunk_size, overlap: DEFAULT_CHUNKING.chunk_overlap }
  const passages = texts
    .flatMap((text) => [...generatePassages({ text, format: 'markdown', pages: [], title: null }, settings)])
    .map(({ headings, content }) => `${headings.join(' › ')}\n${content}`)
  await embedder.embed(passages.slice(0, embedder.batchSize)) // loads the model
  const startedAt = performance.now()
  for (let from = 0; from < passages.length; from += embedder.batchSize)
    await embedder.embed(passages.slice(from, from + embedder.batchSize))
  const totalMs = performance.now() - startedAt
  await service.close()
  return totalMs
}
