import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { PassageReader } from '../../../daemon/inference/embedded-models.ts'
import { EmbeddedModels } from '../../../daemon/inference/embedded-models.ts'
import type { Reading } from '../../../daemon/inference/model-task.ts'
import { getModelsDirectory } from '../../../daemon/inference/paths.ts'
import { computeRerankWeight, rerankPassages } from '../../../daemon/knowledge/search/rerank-passages.ts'
import { captureError } from '../../embedding/capture-error.ts'
import { createTestLogger } from '../../embedding/test-logger.ts'

const test = suite('reranking passages')
const models = new EmbeddedModels({ directory: getModelsDirectory(), workers: 2, logger: createTestLogger() })
test.after(() => models.close())

const QUESTION = 'How many days of leave do I have?'
const createCandidate = (id: string, score: number, content = id, headings = '') => ({
  row: { id, content, headings },
  score,
  rerankScore: null,
})

/** Returns the given relevance for each text and keeps the texts. */
function createReader(relevance: Record<string, number>): PassageReader & { texts: string[] } {
  const texts: string[] = []
  const read = async (_: string, given: readonly string[]) => {
    texts.push(...given)
    return given.map((text) => ({ relevance: relevance[text.split('\n').at(-1) as string] ?? 0 }) as Reading)
  }
  return { texts, read }
}

test('the weight is the same for all Latin letters, and 0 for other scripts', () => {
  const weight = computeRerankWeight(QUESTION)
  assert.ok(weight > 0 && weight < 0.5)
  for (const query of ['Wie viele Urlaubstage gibt es?', '4471', '?']) assert.is(computeRerankWeight(query), weight, query)
  for (const query of ['休暇は何日ありますか', 'сколько дней отпуска', 'כמה ימי חופשה', 'عدد أيام الإجازة'])
    assert.is(computeRerankWeight(query), 0, query)
  const mixed = computeRerankWeight('API 休暇申請')
  assert.ok(mixed > 0 && mixed < weight)
})

test('the score is the weighted sum of both scores, and passages are sorted by it', async () => {
  const reader = createReader({ best: 4, middle: -4, worst: 0 })
  const weight = computeRerankWeight(QUESTION)
  const reranked = await rerankPassages(reader, QUESTION, [
    createCandidate('middle', 0.5),
    createCandidate('best', 0.45),
    createCandidate('worst', 0.1),
  ])
  assert.equal(
    reranked.map(({ row }) => row.id),
    ['best', 'middle', 'worst'],
  )
  for (const [index, [score, rerankScore]] of [
    [0.45, 1 / (1 + Math.exp(-4))],
    [0.5, 1 / (1 + Math.exp(4))],
    [0.1, 0.5],
  ].entries()) {
    assert.ok(Math.abs((reranked[index]?.rerankScore ?? -1) - (rerankScore as number)) < 1e-9)
    assert.ok(Math.abs((reranked[index]?.score ?? -1) - ((1 - weight) * (score as number) + weight * (rerankScore as number))) < 1e-9)
  }
})

test('passages with the same score keep their order', async () => {
  const candidates = Array.from({ length: 30 }, (_, index) => createCandidate(String(index), 0.5))
  const reranked = await rerankPassages(createReader({}), QUESTION, candidates)
  assert.equal(
    reranked.map(({ row }) => row.id),
    candidates.map(({ row }) => row.id),
  )
})

test('a passage in another language than the query keeps its score', async () => {
  const german = 'Der Urlaub wird von der Leitung genehmigt und ist bis März zu nehmen.'
  const reranked = await rerankPassages(createReader({ [german]: -9, 'Some text.': -9 }), QUESTION, [
    createCandidate('a', 0.5, 'Some text.'),
    createCandidate('b', 0.5, german),
  ])
  assert.equal(reranked.map(({ row, score }) => [row.id, score]).slice(0, 1), [['b', 0.5]])
})

test('a passage is read below those of its headings that it does not contain', async () => {
  const reader = createReader({})
  await rerankPassages(reader, QUESTION, [
    createCandidate('a', 1, 'Twenty-five days.', 'Handbook › Leave'),
    createCandidate('b', 1, 'Leave: twenty-five days.', 'Handbook › Leave'),
    createCandidate('c', 1, 'No headings.'),
  ])
  assert.equal(reader.texts, ['Handbook › Leave\nTwenty-five days.', 'Handbook\nLeave: twenty-five days.', 'No headings.'])
})

test('no candidates need no model', async () => {
  assert.equal(await rerankPassages(models, QUESTION, []), [])
  assert.is(models.pool.workerCount, 0)
})

test('the reading model prefers the passage that answers the question', async () => {
  const [best] = await rerankPassages(models, QUESTION, [
    createCandidate('kitchen', 0.5, 'The dishwasher is started by whoever puts in the last cup.'),
    createCandidate('leave', 0.5, 'Every employee has twenty-five days of paid annual leave.', 'Handbook › Leave'),
  ])
  assert.is(best?.row.id, 'leave')
})

test('hostile passages and queries get a score between 0 and 1', async () => {
  const hostile = [
    'x'.repeat(50_000),
    'word '.repeat(1_000),
    '\u{1f600}\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'.repeat(500),
    '\u202eכמה ימי חופשה יש לי?\u202c عدد أيام الإجازة',
    '\u0000\u0001\u0007\u001b[31m\u007f\u0085',
    '\ud800 unpaired',
    '',
    ' \n\t ',
    '[SEP] [CLS] [PAD] [UNK]',
  ]
  const candidates = hostile.map((content, index) => createCandidate(String(index), 0.5, content, [' › ', '', 'A › › B'][index % 3]))
  const check = async (query: string, given: typeof candidates) => {
    const reranked = await rerankPassages(models, query, given)
    assert.is(reranked.length, given.length)
    for (const { rerankScore, score } of reranked)
      for (const value of [rerankScore ?? -1, score]) assert.ok(value >= 0 && value <= 1, `${query.slice(0, 10)}: ${value}`)
  }
  await check(QUESTION, candidates)
  for (const query of ['x'.repeat(10_000), 'word '.repeat(2_000), '\u{1f600}', '\u0000', '[SEP]']) await check(query, candidates.slice(-6))
})

test('an aborted call ends at once, also before it starts', async () => {
  const long = Array.from({ length: 60 }, (_, index) => createCandidate(String(index), 0.5, 'Every word counts. '.repeat(50)))
  const controller = new AbortController()
  const reader: PassageReader = { read: (question, texts) => models.read(question, texts, { signal: controller.signal }) }
  const call = rerankPassages(reader, QUESTION, long)
  controller.abort(new Error('never mind'))
  assert.is((await captureError(call)).message, 'never mind')
  assert.is(models.pool.pendingCount, 0)
  assert.is((await captureError(rerankPassages(reader, QUESTION, long))).message, 'never mind')
})

test('a model that cannot be loaded is reported', async () => {
  const broken = new EmbeddedModels({ directory: '/nonexistent', workers: 1, logger: createTestLogger() })
  const error = await captureError(rerankPassages(broken, QUESTION, [createCandidate('a', 1)]))
  await broken.close()
  assert.is(error.code, 'UNAVAILABLE')
  assert.match(error.message, /cannot be loaded/)
})

test.run()
