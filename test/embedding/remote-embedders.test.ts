import type { ServerResponse } from 'node:http'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RemoteEmbedders } from '../../daemon/embedding/remote-embedders.ts'
import type { EmbeddingTimeouts } from '../../daemon/embedding/request-json.ts'
import { EmbeddingService } from '../../daemon/embedding/service.ts'
import type { RemoteModel } from '../../daemon/models/providers/remote-model.ts'
import { captureError, serializeError } from './capture-error.ts'
import {
  createVector,
  type EmbeddingHandler,
  type EmbeddingProvider,
  respondAsGoogle,
  respondAsOpenai,
  respondWithStatus,
  startEmbeddingProvider,
} from './embedding-provider.ts'
import { createTestLogger } from './test-logger.ts'

const KEY = 'sk-secret-0123456789abcdef'

const test = suite('remote embedders')
const open: { close(): Promise<void> }[] = []

async function remote(
  answers: [EmbeddingHandler, ...EmbeddingHandler[]],
  changes: Partial<RemoteModel> = {},
  times: Partial<EmbeddingTimeouts> = {},
) {
  const provider: EmbeddingProvider = await startEmbeddingProvider(...answers)
  const embedders = new RemoteEmbedders({ timeouts: { retryDelayMs: 5, ...times } })
  open.push(embedders, provider)
  const model = {
    id: 'model_1',
    provider: 'openai',
    model_id: 'embed-3',
    endpoint: `${provider.url}/v1`,
    api_key: KEY,
    allow_private: true,
    ...changes,
  }
  return { embedder: embedders.getEmbedder(model), embedders, model, provider }
}

test.after.each(async () => {
  for (const resource of open.splice(0)) await resource.close()
})

const texts = (count: number) => Array.from({ length: count }, (_, at) => 'x'.repeat(at + 1))
const normal = (text: string): number[] =>
  [1 / Math.sqrt(5), 2 / Math.sqrt(5), 0].map((number) => Math.fround(number * Math.sign(text.length)))

test('openai: requests follow the protocol, and vectors are ordered and normalized', async () => {
  const counted: number[] = []
  const { embedder, provider } = await remote([respondAsOpenai])
  const [first, second] = await embedder.embed(['one', 'three'], { onUsage: (tokens) => counted.push(tokens) })
  assert.equal([...(first ?? [])], normal('one'))
  assert.equal([...(second ?? [])], normal('three'))
  const [sent] = provider.received
  assert.is(sent?.path, '/v1/embeddings')
  assert.is(sent?.headers.authorization, `Bearer ${KEY}`)
  assert.equal(sent?.body, { model: 'embed-3', input: ['one', 'three'], encoding_format: 'float' })
  assert.equal(counted, [6])
  assert.is(await embedder.getDimensions(), 3)
  assert.is(provider.received.length, 1)
})

test('vectors are assigned to texts by index', async () => {
  const pointing: EmbeddingHandler = ({ body }) => ({
    data: body.input.map((text: string, index: number) => ({ index, embedding: [text.length, 1] })).reverse(),
  })
  const { embedder } = await remote([pointing])
  const vectors = await embedder.embed(texts(200))
  assert.equal(
    vectors.map(([x = 0, y = 1]) => Math.round(x / y)),
    texts(200).map(({ length }) => length),
  )
})

test('openai-compatible and ollama: no authorization header without a key, and ollama works without a path', async () => {
  const compatible = await remote([respondAsOpenai], { provider: 'openai-compatible', api_key: null })
  await compatible.embedder.embed(['a'])
  assert.is(compatible.provider.received[0]?.headers.authorization, undefined)
  const ollama = await remote([respondAsOpenai], { provider: 'ollama', api_key: null })
  const bare = ollama.embedders.getEmbedder({ ...ollama.model, id: 'model_2', endpoint: ollama.provider.url })
  await bare.embed(['a'])
  await ollama.embedder.embed(['a'])
  assert.equal(
    ollama.provider.received.map(({ path }) => path),
    ['/v1/embeddings', '/v1/embeddings'],
  )
})

test('google: requests follow the protocol', async () => {
  const { embedder, provider } = await remote([respondAsGoogle], { provider: 'google', model_id: 'models/text-embedding-004' })
  const vectors = await embedder.embed(['one', 'three'])
  assert.equal(
    vectors.map((vector) => [...vector]),
    [normal('one'), normal('three')],
  )
  const [sent] = provider.received
  assert.is(sent?.path, '/v1/models/text-embedding-004:batchEmbedContents')
  assert.is(sent?.headers['x-goog-api-key'], KEY)
  assert.equal(sent?.body.requests[1], { model: 'models/text-embedding-004', content: { parts: [{ text: 'three' }] } })
})

test('a request has at most 64 texts', async () => {
  const { embedder, provider } = await remote([respondAsOpenai])
  assert.is((await embedder.embed(texts(200))).length, 200)
  assert.equal(
    provider.received.map(({ body }) => body.input.length).sort((a, b) => a - b),
    [8, 64, 64, 64],
  )
  assert.ok(embedder.batchSize >= 64)
})

test('empty texts and unpaired surrogates are replaced', async () => {
  const { embedder, provider } = await remote([respondAsOpenai])
  await embedder.embed(['', 'a\ud800b'])
  assert.equal(provider.received[0]?.body.input, [' ', 'a\ufffdb'])
})

for (const code of [429, 503]) {
  test(`status ${code} is retried after the provider's delay`, async () => {
    // Its own delay is too long to wait for.
    const times = { retryDelayMs: 3_600_000 }
    const { embedder, provider } = await remote(
      [respondWithStatus(code, {}, { 'retry-after': '0.01' }), respondAsOpenai, respondWithStatus(code)],
      {},
      times,
    )
    assert.is((await embedder.embed(['a'])).length, 1)
    assert.is(provider.received.length, 2)
    await captureError(embedder.embed(['a']))
    assert.is(provider.received.length, 3)
  })
}

test('a request fails after three retries', async () => {
  const { embedder, provider } = await remote([respondWithStatus(429, { error: { message: 'slow down' } })])
  const error = await captureError(embedder.embed(['a']))
  assert.is(error.code, 'PROVIDER_ERROR')
  assert.match(error.message, /returned 429: slow down/)
  assert.is(provider.received.length, 4)
})

test('a delay of more than a minute is not waited for', async () => {
  const { embedder, provider } = await remote([respondWithStatus(429, {}, { 'retry-after': '3600' })])
  assert.match((await captureError(embedder.embed(['a']))).message, /429/)
  assert.is(provider.received.length, 1)
})

test('a closed connection is retried', async () => {
  const cut: EmbeddingHandler = (_, response) => void response.destroy()
  const { embedder, provider } = await remote([cut, respondAsOpenai])
  assert.is((await embedder.embed(['a'])).length, 1)
  assert.is(provider.received.length, 2)
})

for (const [code, body, words] of [
  [500, { error: { message: 'the model exploded' } }, /returned 500: the model exploded/],
  [400, { error: 'input too long' }, /returned 400: input too long/],
  [404, [{ error: { message: 'no such model' } }], /returned 404: no such model/],
  [401, { message: `bad key ${KEY}` }, /returned 401: bad key \[redacted\]/],
] as const) {
  test(`status ${code} is not retried and has the provider's message`, async () => {
    const { embedder, provider } = await remote([respondWithStatus(code, body)])
    const error = await captureError(embedder.embed(['a']))
    assert.is(error.code, 'PROVIDER_ERROR')
    assert.match(error.message, words)
    assert.is(provider.received.length, 1)
    assert.not.match(serializeError(error), KEY)
  })
}

test('a provider that hangs before or during its response causes a timeout', async () => {
  const silent: EmbeddingHandler = () => undefined
  const stuck: EmbeddingHandler = (_, response: ServerResponse) => void response.write('{"data":')
  for (const answer of [silent, stuck]) {
    const { embedder } = await remote([answer], {}, { responseMs: 100 })
    const error = await captureError(embedder.embed(['a']))
    assert.is(error.code, 'PROVIDER_TIMEOUT')
    assert.not.match(serializeError(error), KEY)
  }
})

test('a refused connection is reported', async () => {
  const { embedder, provider } = await remote([respondAsOpenai])
  await provider.close()
  const error = await captureError(embedder.embed(['a']))
  assert.is(error.code, 'PROVIDER_ERROR')
  assert.match(error.message, /cannot be reached/)
  assert.not.match(serializeError(error), KEY)
})

for (const [problem, response, message] of [
  ['too few vectors', { data: [{ index: 0, embedding: [1, 0] }] }, /1 vectors for 2 texts/],
  ['something else', { hello: 'world' }, /0 vectors for 2 texts/],
  ['invalid numbers', { data: [{ embedding: [1, 'x'] }, { embedding: [1, 2] }] }, /an invalid vector/],
  ['vectors of different length', { data: [{ embedding: [1, 0] }, { embedding: [1, 0, 0] }] }, /3 dimensions instead of 2/],
  ['zeros', { data: [{ embedding: [0, 0] }, { embedding: [0, 0] }] }, /zeros/],
] as const) {
  test(`a response with ${problem} is rejected`, async () => {
    const { embedder } = await remote([() => response])
    const error = await captureError(embedder.embed(['a', 'b']))
    assert.is(error.code, 'PROVIDER_ERROR')
    assert.match(error.message, message)
  })
}

test('a response that is not JSON is rejected, without the key in the error', async () => {
  const page: EmbeddingHandler = (_, response) => void response.end(`<html>Welcome ${KEY}`)
  const { embedder } = await remote([page])
  const error = await captureError(embedder.embed(['a']))
  assert.match(error.message, /invalid response: <html>Welcome \[redacted\]/)
  assert.not.match(serializeError(error), KEY)
})

test('a redirect is not followed, because it would forward the key', async () => {
  const elsewhere = await startEmbeddingProvider(respondAsOpenai)
  open.push(elsewhere)
  const { embedder } = await remote([respondWithStatus(307, {}, { location: `${elsewhere.url}/v1/embeddings` })])
  assert.match((await captureError(embedder.embed(['a']))).message, /returned 307/)
  assert.is(elsewhere.received.length, 0)
})

test('an abort ends the request, also during a retry delay', async () => {
  for (const answer of [() => undefined, respondWithStatus(429, {}, { 'retry-after': '30' })] satisfies EmbeddingHandler[]) {
    const { embedder } = await remote([answer])
    const error = await captureError(embedder.embed(['a'], { signal: AbortSignal.timeout(100) }))
    assert.is(error.name, 'TimeoutError')
  }
})

test('the first failure aborts concurrent requests', async () => {
  const { embedder, provider } = await remote([respondWithStatus(500), () => undefined])
  assert.match((await captureError(embedder.embed(texts(256)))).message, /500/)
  assert.ok(provider.received.length <= 4)
})

test('dimensions are requested once, and the embedder is cached until its record changes', async () => {
  const { embedder, embedders, model, provider } = await remote([respondAsOpenai])
  assert.is(await embedder.getDimensions(), createVector('').length)
  assert.is(await embedder.getDimensions(), 3)
  assert.is(provider.received.length, 1)
  assert.is(embedders.getEmbedder({ ...model }), embedder)
  assert.is.not(embedders.getEmbedder({ ...model, api_key: 'another' }), embedder)
})

test('the service rejects unknown models and providers without embeddings', async () => {
  const records: RemoteModel[] = ['anthropic', 'embedded'].map((provider) => ({
    id: provider,
    provider,
    model_id: 'm',
    endpoint: null,
    api_key: KEY,
    allow_private: true,
  }))
  const service = new EmbeddingService({
    modelsDirectory: '',
    resolveRemoteModel: async (id) => records.find((model) => model.id === id),
    logger: createTestLogger(),
  })
  open.push(service)
  assert.is((await captureError(service.getEmbedder('nobody'))).code, 'NOT_FOUND')
  for (const { id } of records) {
    const error = await captureError(service.getEmbedder(id))
    assert.is(error.code, 'VALIDATION_ERROR')
    assert.match(error.message, /no embeddings endpoint/)
  }
})

test.run()
