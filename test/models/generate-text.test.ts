import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { generateText } from '../../daemon/models/generate-text.ts'
import { estimateInput, estimateTokens } from '../../daemon/models/token-estimate.ts'
import type { Database, Transaction } from '../../daemon/store/database.ts'
import { CadreError } from '../../src/contract/errors.ts'
import {
  disconnectAfter,
  hang,
  respondWithError,
  ScriptedProvider,
  type Step,
  stallAfter,
  streamReply,
  streamText,
} from '../harness/scripted-provider.ts'
import { MemoryMeter } from './memory-meter.ts'
import { createRequest, ProviderFixture } from './providers/provider-fixture.ts'

const test = suite('metered generation')
const fixture = new ProviderFixture({ idleMs: 1_000 })
let provider: ScriptedProvider
test.after.each(() => provider.close())
test.after(() => fixture.close())

/** The meter ignores the transaction. */
const write = <T>(work: (transaction: Transaction) => Promise<T>) => work({} as Transaction)
const database = { write, writeWithoutFlush: write } as Database
const origin = { rag_tool_id: 'rag_1' }

async function generate(meter: MemoryMeter, step: Step, signal?: AbortSignal) {
  provider = await ScriptedProvider.start('openai', step)
  const model = fixture.getModel(provider, { price: { input: 1, output: 2 } })
  return generateText({ database, meter }, model, { ...createRequest(), ...(signal ? { signal } : {}) }, { origin })
}

test("a call is recorded with the provider's usage", async () => {
  const meter = new MemoryMeter()
  const reply = await generate(meter, streamReply({ text: ['He', 'llo'], usage: { input: 1_000, output: 500, cached: 10 } }))
  assert.is(reply.text, 'Hello')
  assert.is(reply.cost, 2)
  assert.equal(reply.usage, { input_tokens: 1_000, output_tokens: 500, cached_tokens: 10, status: 'done', estimated: false })
  assert.ok(reply.latencyMs > 0)
  assert.equal(meter.calls[0]?.origin, origin)
  assert.is(meter.calls[0]?.estimatedInput, estimateInput(createRequest()))
  assert.equal(meter.settled, [
    { entry: 'use_1', input_tokens: 1_000, output_tokens: 500, cached_tokens: 10, status: 'done', estimated: false },
  ])
})

test('usage is estimated if the provider does not report it', async () => {
  const meter = new MemoryMeter()
  const { usage } = await generate(meter, streamReply({ text: ['one two three four'], usage: null }))
  assert.is(usage.output_tokens, estimateTokens('one two three four'))
  assert.is(meter.settled[0]?.estimated, true)
  assert.is(meter.settled[0]?.status, 'done')
})

test('failed calls are settled once: rejected ones with no tokens, interrupted ones with the received text', async () => {
  const refusing = new MemoryMeter()
  await generate(refusing, respondWithError(500)).then(
    () => assert.unreachable(),
    (error) => assert.is(error.code, 'PROVIDER_ERROR'),
  )
  assert.equal(refusing.settled, [{ entry: 'use_1', input_tokens: 0, output_tokens: 0, status: 'failed', estimated: true }])
  await provider.close()
  for (const step of [disconnectAfter('Hello there'), stallAfter('Hello there')]) {
    const broken = new MemoryMeter()
    await generate(broken, step).then(
      () => assert.unreachable(),
      (error) => assert.instance(error, CadreError),
    )
    assert.equal(broken.settled, [
      {
        entry: 'use_1',
        input_tokens: estimateInput(createRequest()),
        output_tokens: estimateTokens('Hello there'),
        status: 'failed',
        estimated: true,
      },
    ])
    await provider.close()
  }
})

test('an aborted call is settled as aborted with its estimated input', async () => {
  const meter = new MemoryMeter()
  const abort = new AbortController()
  setTimeout(() => abort.abort(new Error('enough')), 50)
  await generate(meter, hang, abort.signal).then(
    () => assert.unreachable(),
    (error) => assert.is(error.message, 'enough'),
  )
  assert.is(meter.settled.length, 1)
  assert.is(meter.settled[0]?.status, 'aborted')
  assert.is(meter.settled[0]?.input_tokens, estimateInput(createRequest()))
})

test('a call over the budget is not sent', async () => {
  const meter = new MemoryMeter()
  meter.begin = async () => {
    throw new CadreError('BUDGET_EXCEEDED', 'no more')
  }
  await generate(meter, streamText('hi')).then(
    () => assert.unreachable(),
    (error) => assert.is(error.code, 'BUDGET_EXCEEDED'),
  )
  assert.is(meter.settled.length, 0)
  assert.is(provider.received.length, 0)
})

test('token estimates are close to o200k_base in several scripts', () => {
  const assertClose = (text: string, tokens: number) => {
    const guess = estimateTokens(text)
    assert.ok(guess >= tokens * 0.6 && guess <= tokens * 1.7, `${guess} for ${tokens}: ${text}`)
  }
  assertClose('The quick brown fox jumps over the lazy dog and runs away into the forest.', 16)
  assertClose('Employees are entitled to thirty days of paid leave every calendar year.', 13)
  assertClose('员工每年享有三十天带薪年假。', 13)
  assertClose('従業員は毎年三十日の有給休暇を取ることができます。', 19)
  assertClose('Сотрудники имеют право на тридцать дней оплачиваемого отпуска в год.', 17)
  assert.is(estimateTokens(''), 0)
  assert.ok(estimateTokens('🙂🙂🙂') >= 3)
})

test.run()
