import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EmbeddingService } from '../../daemon/embedding/service.ts'
import { MinilmTokenizer } from '../../daemon/inference/minilm-tokenizer.ts'
import { getModelsDirectory } from '../../daemon/inference/paths.ts'
import { captureError } from './capture-error.ts'
import { computeCosine } from './compute-cosine.ts'
import { VARIED } from './sample-texts.ts'
import { createTestLogger } from './test-logger.ts'

const test = suite('embedded model')
const createService = (workers: number, modelsDirectory = getModelsDirectory()) =>
  new EmbeddingService({ modelsDirectory, resolveRemoteModel: async () => undefined, workers, logger: createTestLogger() })
const service = createService(2)
const SHORT = VARIED.filter((text) => text.length < 60)

test.after(() => service.close())

test('vectors have 384 dimensions and length 1', async () => {
  const embedder = await service.getEmbedder('minilm')
  assert.is(embedder.id, 'minilm')
  assert.is(await embedder.getDimensions(), 384)
  for (const vector of await embedder.embed(SHORT)) {
    assert.is(vector.length, 384)
    assert.ok(Math.abs(computeCosine(vector, vector) - 1) < 1e-4)
  }
})

test('a text has the same vector in every worker, position and batch', async () => {
  const embedder = await service.getEmbedder('minilm')
  const alone = (await embedder.embed(['the same text']))[0]
  const many = await embedder.embed(Array.from({ length: 24 }, (_, at) => (at % 3 ? 'the same text' : `another one, the ${at}th`)))
  for (const [at, vector] of many.entries()) if (at % 3) assert.equal(vector, alone)
  assert.is(service.getStatus().workers, 2)
})

test('many texts at once, as in a sync, cause no warning about listeners', async () => {
  const warnings: string[] = []
  const add = ({ name }: Error) => void warnings.push(name)
  process.on('warning', add)
  const embedder = await service.getEmbedder('minilm')
  await embedder.embed(
    Array.from({ length: 24 }, (_, at) => `text ${at}`),
    { signal: new AbortController().signal },
  )
  process.off('warning', add)
  assert.equal(warnings, [])
})

test('vectors are in the order of the texts', async () => {
  const embedder = await service.getEmbedder('minilm')
  const texts = SHORT.flatMap((text, at) => (at % 5 ? [text] : [text, `${VARIED[20]} ${text}`.repeat(3)]))
  const together = await embedder.embed(texts)
  for (const at of [0, 1, 7, 20, texts.length - 1]) assert.equal(together[at], (await embedder.embed([texts[at] ?? '']))[0])
})

test('texts with the same meaning are more similar than unrelated ones', async () => {
  const embedder = await service.getEmbedder('minilm')
  const [question = [], answer = [], other = []] = await embedder.embed([
    'How many days of leave can I take along into next year?',
    'Employees may carry over at most five days of leave into the following year.',
    'Turn the valve a quarter to the left until the hissing stops.',
  ])
  assert.ok(computeCosine(question, answer) > 0.5)
  assert.ok(computeCosine(question, answer) > computeCosine(question, other) + 0.3)
})

test('queries are embedded before texts that are being indexed', async () => {
  const embedder = await service.getEmbedder('minilm')
  let indexed = false
  const indexing = embedder.embed(Array.from({ length: 48 }, (_, at) => `${at} ${VARIED[13]} ${VARIED[14]}`)).then(() => {
    indexed = true
  })
  const queries = await Promise.all(Array.from({ length: 50 }, (_, at) => embedder.embed([`question ${at}`], { priority: 'high' })))
  assert.is(indexed, false)
  assert.is(queries.flat().length, 50)
  await indexing
})

test('the model works after an aborted call', async () => {
  const embedder = await service.getEmbedder('minilm')
  const error = await captureError(embedder.embed([...VARIED, ...VARIED], { signal: AbortSignal.timeout(50) }))
  assert.is(error.name, 'TimeoutError')
  assert.is((await embedder.embed(['still here']))[0]?.length, 384)
})

test('texts are truncated to 256 tokens, and huge or invalid ones still have a vector', async () => {
  const embedder = await service.getEmbedder('minilm')
  const words = Array.from({ length: 600 }, (_, at) => (at % 2 ? 'apple' : 'river')).join(' ')
  const [whole, cut] = await embedder.embed([words, words.split(' ').slice(0, 254).join(' ')])
  assert.equal(whole, cut)
  const huge = await embedder.embed(['x'.repeat(8_000_000), ' '.repeat(8_000_000), '\ud800 half a pair \udc00', '\u0000'])
  assert.ok(huge.every((vector) => vector.every(Number.isFinite)))
})

test('tokens are ids of the vocabulary between start and end tokens', () => {
  const tokens = new MinilmTokenizer(JSON.parse(readFileSync(join(getModelsDirectory(), 'tokenizer.json'), 'utf8')))
  assert.equal([...tokens.encode('Hello, world!')], [101n, 7592n, 1010n, 2088n, 999n, 102n])
  assert.equal([...tokens.encode('')], [101n, 102n])
  const long = tokens.encode('word '.repeat(1000))
  assert.equal([long.length, long[0], long.at(-1)], [256, 101n, 102n])
})

test('a missing model fails with a hint how to fix it', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'cadre-models-'))
  const broken = createService(1, empty)
  const embedder = await broken.getEmbedder('minilm')
  const error = await captureError(embedder.embed(['text']))
  assert.is(error.code, 'UNAVAILABLE')
  assert.match(error.message, /cannot be loaded: .*tokenizer\.json/)
  assert.match(error.hint ?? '', /npm run build/)
  await broken.close()
  rmSync(empty, { recursive: true })
})

test.run()
