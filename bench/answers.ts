/** Answers of the embedded model: how many are right or refused, what reading costs, and many questions at a time. */
import { execFileSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { mapConcurrently } from '../daemon/async/map-concurrently.ts'
import { EmbeddingModel } from '../daemon/inference/embedding-model.ts'
import { MinilmTokenizer } from '../daemon/inference/minilm-tokenizer.ts'
import { getModelsDirectory } from '../daemon/inference/paths.ts'
import { ReadingModel } from '../daemon/inference/reading-model.ts'
import { composeReadingText } from '../daemon/inference/reading-text.ts'
import { EMBEDDED_MODEL_ID } from '../src/contract/families/models.ts'
import type { QueryResult } from '../src/contract/schemas/passages.ts'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import {
  containsAnswer,
  getQuote,
  getShownAnswer,
  isRefusal,
  KINDS,
  type LabelledQuestion,
  loadLabelledDocuments,
  loadLabelledQuestions,
  loadXquad,
} from './support/answer-sets.ts'
import { request, withDaemon, withHome } from './support/daemon.ts'
import { type Bar, type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'
import { measureCpu } from './support/measure-cpu.ts'
import { createPassage } from './support/passages.ts'
import { createSyncedSource, type SourceDocument } from './support/sync-source.ts'

const TOP_K = 8
const CONCURRENCY = 4
/** Shares of XQuAD by language: the quoted sentence contains the answer, and questions about other articles are refused. */
const XQUAD_BARS = {
  English: { language: 'en', right: 0.92, refused: 0.95 },
  German: { language: 'de', right: 0.68, refused: 0.9 },
  Spanish: { language: 'es', right: 0.72, refused: 0.9 },
} as const
const LANGUAGES = Object.keys(XQUAD_BARS) as (keyof typeof XQUAD_BARS)[]
const MIN_LABELLED_RIGHT = 0.8
/** Of unanswerable questions: refused, and refused or merely probable. */
const MIN_LABELLED_REFUSED = 0.75
const MIN_LABELLED_DOUBTED = 0.9
/** How many answers of a level are right. */
const MIN_CERTAIN_RIGHT = 0.9
const MIN_PROBABLE_RIGHT = 0.6
const MAX_WRONG_AND_CERTAIN = 0.08
const ROUNDS = 7
const READ_PASSAGES = 8
const EMBEDDED_PASSAGES = 12
/** Twice the cost of the reading model with six layers. */
const MAX_READING_COST = 1.5
const CONCURRENT_QUESTIONS = 20
const MAX_HEALTH_MS = 100
const MAX_WORKER_BYTES = 300e6
const HEADINGS = ['Handbook', 'Rules of the house']
const QUESTION = 'How many days of leave can I take along into next year?'
/** Each has an answer, which 20 different passages give. */
const createQuestion = (number: number) => `How many chairs are in room ${number} of the north wing?`
const createRoom = (number: number): SourceDocument => ({
  id: `room-${number}`,
  text: `# Room ${number}\n\nRoom ${number} of the north wing has ${number + 30} chairs. ${createPassage(number)}`,
})

type Ask = (question: string) => Promise<Pick<QueryResult, 'answer' | 'confidence'>>

export const answers: Benchmark = {
  name: 'answers',
  async run() {
    const parts = [...LANGUAGES.map((language) => () => measureXquad(language)), measureLabelled, measureCost, measureConcurrency]
    const figures: Figure[] = []
    for (const measure of parts) {
      const measured = await measure()
      // A run that is ended early has told these figures.
      for (const { name, figure } of measured) console.error(`  ${name}: ${figure}`)
      figures.push(...measured)
    }
    return figures
  },
}

async function measureXquad(name: keyof typeof XQUAD_BARS): Promise<Figure[]> {
  const { language, right, refused } = XQUAD_BARS[name]
  const set = loadXquad(language)
  if (!set) return []
  return withHome((home) =>
    withDaemon(home, async (daemon) => {
      const ask = await createAsk(daemon, `xquad-${language}`, set.documents)
      const results = await askAll(set.questions, ({ text }) => ask(text))
      const own = results.filter(({ question }) => question.isOwn)
      const foreign = results.filter(({ question }) => !question.isOwn)
      const isRight = ({ question, answer }: (typeof results)[number]) => containsAnswer(getQuote(answer), question.answers)
      const isRefused = ({ answer }: (typeof results)[number]) => isRefusal(answer)
      const isUnseen = ({ question }: (typeof results)[number]) => !question.isTuning
      const unseen = '… of questions that no weight was chosen with'
      return [
        createShare(`XQuAD ${name}, the quoted sentence contains the answer`, own, isRight, { least: right }),
        ...(language === 'en' ? [createShare(unseen, own.filter(isUnseen), isRight)] : []),
        createShare(`XQuAD ${name}, questions about other articles refused`, foreign, isRefused, { least: refused }),
        ...(language === 'en' ? [createShare(unseen, foreign.filter(isUnseen), isRefused)] : []),
      ]
    }),
  )
}

async function measureLabelled(): Promise<Figure[]> {
  const questions = loadLabelledQuestions()
  const results = await withHome((home) =>
    withDaemon(home, async (daemon) => {
      const all: Awaited<ReturnType<typeof askAll<LabelledQuestion>>> = []
      for (const kind of KINDS) {
        const ask = await createAsk(daemon, kind, loadLabelledDocuments(kind))
        const ofKind = questions.filter((question) => question.kind === kind)
        all.push(...(await askAll(ofKind, ({ question }) => ask(question))))
      }
      return all
    }),
  )
  type Result = (typeof results)[number]
  const isAnswerable = ({ question }: Result) => question.answers.length > 0
  const isRight = ({ question, answer }: Result) => containsAnswer(getShownAnswer(answer), question.answers)
  const isRefused = ({ answer }: Result) => isRefusal(answer)
  const answerable = results.filter(isAnswerable)
  const unanswerable = results.filter((result) => !isAnswerable(result))
  const isWrongAndCertain = (result: Result) => result.confidence === 'certain' && !isRight(result)
  const ofLevel = (level: Result['confidence']) => results.filter(({ confidence }) => confidence === level)
  const figures = [
    createShare('bench/answers, right', answerable, isRight, { least: MIN_LABELLED_RIGHT }, 'by literal match; to be judged by a person'),
    createShare(
      '… of questions worded unlike the text',
      answerable.filter(({ question }) => question.unlike),
      isRight,
    ),
    createShare('bench/answers, unanswerable refused', unanswerable, isRefused, { least: MIN_LABELLED_REFUSED }),
    createShare('… or merely probable', unanswerable, ({ confidence }) => confidence !== 'certain', { least: MIN_LABELLED_DOUBTED }),
    createShare('certain answers that are right', ofLevel('certain'), isRight, { least: MIN_CERTAIN_RIGHT }),
    createShare('probable answers that are right', ofLevel('probable'), isRight, { least: MIN_PROBABLE_RIGHT }),
    createShare('replies that are wrong and certain', results, isWrongAndCertain, { most: MAX_WRONG_AND_CERTAIN }),
  ]
  for (const half of ['work', 'held'] as const) {
    const ofHalf = ({ question }: Result) => question.half === half
    figures.push(
      createShare(`… right, ${half} half`, answerable.filter(ofHalf), isRight, undefined, formatKinds(answerable.filter(ofHalf), isRight)),
    )
    figures.push(
      createShare(
        `… refused, ${half} half`,
        unanswerable.filter(ofHalf),
        isRefused,
        undefined,
        formatKinds(unanswerable.filter(ofHalf), isRefused),
      ),
    )
  }
  return figures

  function formatKinds(some: readonly Result[], isHit: (result: Result) => boolean): string {
    return KINDS.map((kind) => {
      const ofKind = some.filter(({ question }) => question.kind === kind)
      return `${kind} ${ofKind.filter(isHit).length}/${ofKind.length}`
    }).join(', ')
  }
}

/** Creates a RAG tool over the documents and returns a function that asks it. */
async function createAsk(daemon: DaemonProcess, name: string, documents: readonly SourceDocument[]): Promise<Ask> {
  const knowledge_source_id = await createSyncedSource(daemon, name, documents)
  const { data } = await request<{ data: { id: string } }>(daemon, 'POST', '/api/rag-tools', {
    name,
    knowledge_source_id,
    model_id: EMBEDDED_MODEL_ID,
  })
  const path = `/api/rag-tools/${data.id}/query`
  return async (query) => (await request<{ data: QueryResult }>(daemon, 'POST', path, { query, top_k: TOP_K })).data
}

async function askAll<T>(questions: readonly T[], ask: (question: T) => ReturnType<Ask>) {
  const results: (Awaited<ReturnType<Ask>> & { question: T })[] = []
  const work = async (question: T) => ({ question, ...(await ask(question)) })
  for await (const result of mapConcurrently(questions, CONCURRENCY, work)) results.push(result)
  return results
}

function createShare<T>(name: string, all: readonly T[], isHit: (result: T) => boolean, bar?: Bar, note?: string): Figure {
  const hits = all.filter(isHit).length
  const share = all.length === 0 ? undefined : hits / all.length
  return {
    name,
    figure: `${hits} of ${all.length}${note === undefined ? '' : `; ${note}`}`,
    ...(share === undefined ? {} : { ratio: share }),
    ...(bar && share !== undefined ? { bar } : {}),
  }
}

/** Measures both in turn, so that other load affects both. */
async function measureCost(): Promise<Figure[]> {
  const directory = getModelsDirectory()
  const tokenizer = MinilmTokenizer.load(directory)
  const embedding = await EmbeddingModel.load(directory, tokenizer)
  const reading = await ReadingModel.load(directory, tokenizer)
  const spent = { reading: [] as number[], embedding: [] as number[] }
  // The first round is a warm-up.
  for (let round = 0; round <= ROUNDS; round++) {
    const texts = Array.from({ length: EMBEDDED_PASSAGES }, (_, index) => createPassage(round * EMBEDDED_PASSAGES + index))
    const read = await measureCpu(async () => {
      for (const text of texts.slice(0, READ_PASSAGES)) await reading.read(QUESTION, composeReadingText(HEADINGS, text).text)
    })
    const embedded = await measureCpu(async () => {
      for (const text of texts) await embedding.embed(text)
    })
    if (round === 0) continue
    spent.reading.push(read)
    spent.embedding.push(embedded)
  }
  const [ours, reference] = [median(spent.reading), median(spent.embedding)]
  return [
    {
      name: `reading ${READ_PASSAGES} passages, CPU relative to embedding ${EMBEDDED_PASSAGES}`,
      figure: `${formatMilliseconds(ours)} to ${formatMilliseconds(reference)}`,
      ratio: ours / reference,
      bar: { most: MAX_READING_COST },
    },
  ]
}

async function measureConcurrency(): Promise<Figure[]> {
  return withHome((home) =>
    withDaemon(home, async (daemon) => {
      const numbers = Array.from({ length: CONCURRENT_QUESTIONS }, (_, number) => number + 1)
      const ask = await createAsk(daemon, 'rooms', numbers.map(createRoom))
      await ask(createQuestion(0))
      const startedAt = performance.now()
      const asked = Promise.all(numbers.map((number) => ask(createQuestion(number))))
      const healthMs = await measureHealth(daemon, asked)
      const replies = await asked
      const seconds = (performance.now() - startedAt) / 1000
      const right = numbers.filter((number, index) => getShownAnswer(replies[index]?.answer ?? '').includes(String(number + 30)))
      const workerBytes = measureWorkerMemory(daemon)
      return [
        {
          name: `${CONCURRENT_QUESTIONS} questions at a time, right`,
          figure: `${right.length} in ${seconds.toFixed(1)} s`,
          ratio: right.length / CONCURRENT_QUESTIONS,
          bar: { least: 1 },
        },
        {
          name: `slowest GET /api/health meanwhile, relative to ${MAX_HEALTH_MS} ms`,
          figure: `${formatMilliseconds(Math.max(...healthMs))} of ${healthMs.length}, median ${formatMilliseconds(median(healthMs))}`,
          ratio: Math.max(...healthMs) / MAX_HEALTH_MS,
          bar: { most: 1 },
        },
        {
          name: `memory of a worker with both models, relative to ${MAX_WORKER_BYTES / 1e6} MB`,
          figure: `${(workerBytes / 1e6).toFixed(0)} MB`,
          ratio: workerBytes / MAX_WORKER_BYTES,
          bar: { most: 1 },
        },
      ]
    }),
  )
}

/** Returns the duration of each request until the work is done. */
async function measureHealth(daemon: DaemonProcess, work: Promise<unknown>): Promise<number[]> {
  const durations: number[] = []
  let isDone = false
  work
    .finally(() => {
      isDone = true
    })
    .catch(() => {})
  while (!isDone) {
    const startedAt = performance.now()
    await (await fetch(`${daemon.url}/api/health`)).text()
    durations.push(performance.now() - startedAt)
    await delay(10)
  }
  return durations
}

/** Returns the resident memory of the largest worker process. */
function measureWorkerMemory(daemon: DaemonProcess): number {
  const rows = execFileSync('ps', ['-A', '-o', 'ppid=,rss='], { encoding: 'utf8' }).trim().split('\n')
  const children = rows.map((row) => row.trim().split(/\s+/).map(Number)).filter(([parent]) => parent === daemon.child.pid)
  return Math.max(...children.map(([, kilobytes = 0]) => kilobytes)) * 1024
}
