import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Caller } from '../../daemon/core/caller.ts'
import type { EmbedOptions } from '../../daemon/embedding/embedder.ts'
import { EmbeddingsService } from '../../daemon/openai/embeddings-service.ts'
import type { CadreError } from '../../src/contract/errors.ts'
import type { Role } from '../../src/contract/route.ts'

const test = suite('turns of embeddings')

interface EmbedCall extends EmbedOptions {
  texts: readonly string[]
  finish(): void
}

/** The service with a model whose calls end when the test says so. */
function createService() {
  const calls: EmbedCall[] = []
  const embedder = {
    id: 'minilm',
    batchSize: 32,
    getDimensions: async () => 1,
    embed: (texts: readonly string[], options: EmbedOptions = {}) =>
      new Promise<Float32Array[]>((resolve) => {
        calls.push({ ...options, texts, finish: () => resolve(texts.map((text) => Float32Array.of(Number(text)))) })
      }),
  }
  const service = new EmbeddingsService({
    directory: { find: async () => ({ kind: 'model', id: 'minilm' }) },
    models: { requireMaySpend: async () => undefined },
    embedding: { getEmbedder: async () => embedder },
    ledger: {
      record: (_embedder: unknown, _texts: unknown, _origin: unknown, work: (onUsage: () => void) => unknown) => work(() => undefined),
    },
  } as never)
  const create = (role: Role, count: number) => {
    const caller: Caller = { tokenId: `token of ${role}`, role, userId: null }
    const input = Array.from({ length: count }, (_, index) => String(index))
    return service.create(caller, { model: 'minilm', input } as never, new AbortController().signal)
  }
  return { calls, create }
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

test('many texts run behind queries, in small pieces, in the turn of their caller', async () => {
  const { calls, create } = createService()
  const created = create('viewer', 100)
  for (let piece = 0; piece < 4; piece++) {
    await tick()
    assert.is(calls.length, piece + 1, 'the next piece begins when the last one has ended')
    assert.equal([calls[piece]?.priority, calls[piece]?.caller], ['normal', 'token of viewer'])
    calls[piece]?.finish()
  }
  assert.equal(
    calls.map(({ texts }) => texts.length),
    [32, 32, 32, 4],
  )
  assert.equal(
    (await created).data.map(({ embedding }) => embedding),
    Array.from({ length: 100 }, (_, index) => [index]),
  )
})

test('a single text has the priority of a query', async () => {
  const { calls, create } = createService()
  const created = create('viewer', 1)
  await tick()
  assert.equal([calls[0]?.priority, calls[0]?.caller], ['high', 'token of viewer'])
  calls[0]?.finish()
  await created
})

test('a token has a limited number of waiting texts, which depends on its role', async () => {
  const { calls, create } = createService()
  void create('viewer', 2_048)
  const second = create('viewer', 2_048)
  const third: CadreError = await create('viewer', 1).then(
    () => assert.unreachable(),
    (error) => error,
  )
  assert.equal([third.code, third.status], ['RATE_LIMITED', 429])
  assert.match(third.message, '4096 texts of this token wait')
  void create('editor', 2_048)
  void create('member', 2_048)
  for (let piece = 0; piece < 300; piece++) {
    await tick()
    for (const call of calls.splice(0)) call.finish()
  }
  await second
  void create('viewer', 2_048)
})

test.run()
