import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { MeteredModel } from '../../daemon/core/meter.ts'
import type { CadreError } from '../../src/contract/errors.ts'
import { FREE, PRICED, TestLedger, UNPRICED } from './usage-fixture.ts'

const AGENT = { agent_id: 'agent_a' }

const test = suite<{ ledger: TestLedger }>('usage budget')

test.before.each(async (context) => {
  context.ledger = await TestLedger.open()
})
test.after.each(({ ledger }) => ledger.close())

test('a blocking threshold rejects calls once it is reached, with a full explanation', async ({ ledger }) => {
  const id = await ledger.addThreshold({ limit: 18, action: 'block', entity: ['agent', 'agent_a'] })
  await ledger.meter.checkBudget(PRICED, AGENT)
  await ledger.recordCall(11, 7, AGENT)
  const error = await ledger.getRejection(ledger.meter.checkBudget(PRICED, AGENT))
  assert.is(error?.code, 'BUDGET_EXCEEDED')
  assert.is(error?.status, 402)
  assert.is(
    error?.message,
    'The limit of 18 tokens per day for the agent "agent_a" is reached: 18 used. ' +
      'It counts the input and output of chat and embedding models, embedded and free ones too. No model was called.',
  )
  assert.match(error?.hint ?? '', new RegExp(`2026-02-01T00:00:00Z.*thresholds update ${id} --limit 36`))
  assert.match(error?.details?.[0]?.problem ?? '', new RegExp(id))
})

test('the hint proposes a limit above the usage', async ({ ledger }) => {
  await ledger.recordCall(110, 70, AGENT)
  await ledger.addThreshold({ limit: 10, action: 'block', entity: ['agent', 'agent_a'] })
  const error = await ledger.getRejection(ledger.meter.checkBudget(PRICED, AGENT))
  assert.match(error?.hint ?? '', '--limit 360')
})

test('a threshold of one agent does not block others', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 1, action: 'block', entity: ['agent', 'agent_a'] })
  await ledger.recordCall(11, 7, AGENT)
  await ledger.meter.checkBudget(PRICED, { agent_id: 'agent_b' })
  await ledger.meter.checkBudget(PRICED, {})
})

for (const [type, origin] of Object.entries({
  agent: { agent_id: 'x' },
  rag_tool: { rag_tool_id: 'x' },
  prompt_template: { prompt_template_id: 'x' },
  evaluation: { evaluation_id: 'x' },
  user: { user_id: 'x' },
}))
  test(`a threshold of a ${type} blocks`, async ({ ledger }) => {
    await ledger.addThreshold({ limit: 5, action: 'block', entity: [type, 'x'] })
    await ledger.recordCall(5, 0, origin)
    assert.is((await ledger.getRejection(ledger.meter.checkBudget(UNPRICED, origin)))?.code, 'BUDGET_EXCEEDED')
  })

test('a threshold of a model counts all its calls', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 5, action: 'block', entity: ['model', PRICED.id] })
  await ledger.recordCall(100, 0, AGENT, UNPRICED)
  await ledger.meter.checkBudget(PRICED, AGENT)
  await ledger.recordCall(5, 0, { user_id: 'ada' })
  assert.is((await ledger.getRejection(ledger.meter.checkBudget(PRICED, AGENT)))?.code, 'BUDGET_EXCEEDED')
  await ledger.meter.checkBudget(UNPRICED, AGENT)
})

test('a threshold of 0 for all usage blocks every call', async ({ ledger }) => {
  const id = await ledger.addThreshold({ limit: 0, action: 'block' })
  assert.match((await ledger.getRejection(ledger.meter.checkBudget(PRICED, {})))?.message ?? '', /all usage is reached: 0 used/)
  await ledger.execute('DELETE FROM usage_thresholds WHERE id = ?', [id])
  await ledger.meter.checkBudget(PRICED, {})
})

test('cost sums have no floating-point error: eight times 0.1 reach 0.8', async ({ ledger }) => {
  await ledger.addThreshold({ metric: 'cost', limit: 0.8, action: 'block' })
  const dime = { id: 'model_dime', price: { input: 0.1, output: 0 } }
  for (let call = 0; call < 8; call++) await ledger.recordCall(1000, 0, {}, dime)
  assert.match((await ledger.getRejection(ledger.meter.checkBudget(dime, {})))?.message ?? '', /0\.8 USD per day .* 0\.8 USD used/)
})

test('periods end at midnight UTC', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 10, action: 'block' })
  await ledger.recordCall(10, 0)
  assert.ok(await ledger.getRejection(ledger.meter.checkBudget(PRICED, {})))
  ledger.clock = new Date('2026-02-01T00:00:00.000Z')
  await ledger.meter.checkBudget(PRICED, {})
  const month = await ledger.addThreshold({ limit: 10, period: 'month', action: 'block' })
  await ledger.recordCall(9, 0)
  ledger.clock = new Date('2026-02-28T23:59:59.999Z')
  await ledger.recordCall(1, 0)
  assert.match((await ledger.getRejection(ledger.meter.checkBudget(PRICED, {})))?.hint ?? '', new RegExp(`2026-03-01T00:00:00Z.*${month}`))
  ledger.clock = new Date('2026-03-01T00:00:00.000Z')
  await ledger.meter.checkBudget(PRICED, {})
})

test('concurrent calls are admitted only within the budget', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 100, action: 'block', entity: ['agent', 'agent_a'] })
  await ledger.recordCall(8, 12, AGENT) // a mean call takes 20
  const begun = await Promise.allSettled(
    Array.from({ length: 50 }, async () => {
      await ledger.meter.checkBudget(PRICED, AGENT)
      return ledger.begin(AGENT, PRICED, 8)
    }),
  )
  const entered = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  assert.is(entered.length, 4) // 20 used, and four open calls of 20
  const refused = begun.find((one) => one.status === 'rejected') as PromiseRejectedResult
  assert.match(refused.reason.message, /20 used, the rest reserved by 4 running calls/)
  for (const entry of entered) await ledger.settle(entry, 1, 1) // the calls used less
  await ledger.meter.checkBudget(PRICED, AGENT)
})

/** Begins calls at the same time and returns the entries of those that were admitted, and the errors of the others. */
async function beginTogether(count: number, begin: () => Promise<string>): Promise<{ admitted: string[]; errors: CadreError[] }> {
  const results = await Promise.allSettled(Array.from({ length: count }, begin))
  return {
    admitted: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    errors: results.flatMap((result) => (result.status === 'rejected' ? [result.reason as CadreError] : [])),
  }
}

for (const metric of ['tokens', 'cost'])
  test(`of 100 first calls at the same time, one is admitted until it has ended: ${metric}`, async ({ ledger }) => {
    await ledger.addThreshold({ metric, limit: 30, action: 'block' })
    const begin = () => ledger.begin(AGENT, PRICED, 8)
    const first = await beginTogether(100, begin)
    assert.is(first.admitted.length, 1)
    assert.match(first.errors[0]?.message ?? '', 'The first call under the limit of 30')
    assert.match(first.errors[0]?.hint ?? '', 'max_tokens')
    // Each uses 10 tokens, or 10 in cost.
    await ledger.settle(first.admitted[0] as string, ...((metric === 'tokens' ? [8, 2] : [8_000, 4_000]) as [number, number]))
    assert.is((await beginTogether(100, begin)).admitted.length, 2)
  })

test('the first calls of a period count as those of an earlier period', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 100, action: 'block' })
  await ledger.recordCall(8, 12)
  ledger.clock = new Date('2026-02-03T00:00:00.000Z')
  assert.is((await beginTogether(100, () => ledger.begin(AGENT, PRICED, 8))).admitted.length, 5)
})

test('a call with max_tokens reserves them', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 1_000, action: 'block' })
  const { admitted, errors } = await beginTogether(100, () => ledger.begin(AGENT, PRICED, 50, 200))
  assert.is(admitted.length, 4)
  assert.match(errors[0]?.message ?? '', 'the rest reserved by 4 running calls')
  for (const entry of admitted) await ledger.settle(entry, 50, 1)
  // The mean of 51 is not what such a call may use.
  assert.is((await beginTogether(100, () => ledger.begin(AGENT, PRICED, 50, 200))).admitted.length, 4)
})

test('no more than 100 calls of unknown size are admitted at the same time, however small earlier ones were', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 1_000_000, action: 'block' })
  await ledger.recordCall(1, 0)
  assert.is((await beginTogether(150, () => ledger.begin(AGENT, PRICED, 1))).admitted.length, 100)
})

test('calls of free models do not wait for the first one of a cost limit', async ({ ledger }) => {
  await ledger.addThreshold({ metric: 'cost', limit: 1, action: 'block' })
  assert.is((await beginTogether(10, () => ledger.begin(AGENT, FREE))).admitted.length, 10)
})

test('a cost limit that is reached blocks only calls that can cost money', async ({ ledger }) => {
  await ledger.addThreshold({ metric: 'cost', limit: 0, action: 'block' })
  const begin = (model: MeteredModel) => ledger.meter.beginWithoutFlush({ model, kind: 'chat', origin: AGENT, estimatedInput: 10 })
  await ledger.meter.checkBudget(FREE, AGENT)
  await ledger.begin(AGENT, FREE)
  assert.ok(await begin(FREE))
  for (const model of [PRICED, UNPRICED, { id: 'model_output', price: { input: 0, output: 1 } }])
    for (const call of [ledger.meter.checkBudget(model, AGENT), ledger.begin(AGENT, model), begin(model)])
      assert.is((await ledger.getRejection(call))?.code, 'BUDGET_EXCEEDED', model.id)
  const { hint } = (await ledger.getRejection(ledger.begin(AGENT, UNPRICED))) ?? {}
  assert.match(hint ?? '', 'if it is free, set its price to 0')
})

test('a token limit also counts and blocks calls of free models', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 5, action: 'block' })
  await ledger.recordCall(5, 0, AGENT, FREE)
  assert.is((await ledger.getRejection(ledger.meter.checkBudget(FREE, AGENT)))?.code, 'BUDGET_EXCEEDED')
})

test('batched calls, as of evaluations, wait for the first one instead of failing', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 100, action: 'block' })
  const call = { model: PRICED, kind: 'chat' as const, origin: AGENT, estimatedInput: 10 }
  const calls = Array.from({ length: 3 }, () => ledger.meter.beginWithoutFlush(call))
  await ledger.settle(await Promise.race(calls), 10, 10)
  assert.is(new Set(await Promise.all(calls)).size, 3)
})

test('an open call counts with its estimate if that exceeds the mean', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 1000, action: 'block', entity: ['agent', 'agent_a'] })
  await ledger.begin(AGENT, PRICED, 1000)
  assert.match((await ledger.getRejection(ledger.meter.checkBudget(PRICED, AGENT)))?.message ?? '', /one running call/)
  await ledger.meter.checkBudget(PRICED, { agent_id: 'agent_b' })
})

test('an exceeded threshold publishes one event per period', async ({ ledger }) => {
  const id = await ledger.addThreshold({ limit: 30, entity: ['agent', 'agent_a'] })
  await ledger.recordCall(11, 7, AGENT)
  assert.equal(ledger.published, [])
  await ledger.recordCall(11, 7, AGENT)
  assert.equal(ledger.published, [
    {
      threshold_id: id,
      entity_type: 'agent',
      entity_id: 'agent_a',
      metric: 'tokens',
      limit: 30,
      value: 36,
      period: 'day',
      period_start: '2026-01-31T00:00:00.000Z',
      action: 'notify',
    },
  ])
  await ledger.recordCall(11, 7, AGENT)
  await ledger.restart()
  await ledger.recordCall(11, 7, AGENT)
  assert.is(ledger.published.length, 1)
  ledger.clock = new Date('2026-02-01T08:00:00.000Z')
  await ledger.recordCall(11, 7, AGENT)
  await ledger.recordCall(11, 7, AGENT)
  assert.equal(
    ledger.published.map(({ period_start }) => period_start),
    ['2026-01-31T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
  )
})

test('a call and its event are stored in one transaction', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 1 })
  const entry = await ledger.begin()
  const failed = ledger.database.write(async (transaction) => {
    await ledger.meter.settle(transaction, entry, { input_tokens: 5, output_tokens: 0, status: 'done', estimated: false })
    throw new Error('disk on fire')
  })
  assert.ok(await ledger.getRejection(failed))
  await ledger.settle(entry, 5, 0)
  assert.is(ledger.published.length, 2) // published twice, stored once: the first was rolled back with its transaction
  assert.equal(await ledger.database.all('SELECT "limit" FROM usage_notices'), [{ limit: 1 }])
})

test('a raised threshold publishes again, a lowered one does not', async ({ ledger }) => {
  const id = await ledger.addThreshold({ limit: 10, action: 'block' })
  await ledger.recordCall(10, 0)
  assert.is(ledger.published[0]?.action, 'block')
  const limit = (value: number) => ledger.execute('UPDATE usage_thresholds SET "limit" = ? WHERE id = ?', [value, id])
  await limit(5)
  assert.ok(await ledger.getRejection(ledger.begin()))
  await limit(20)
  await ledger.recordCall(5, 0)
  assert.is(ledger.published.length, 1)
  await ledger.recordCall(5, 0)
  assert.equal(
    ledger.published.map((told) => [told.limit, told.value]),
    [
      [10, 10],
      [20, 20],
    ],
  )
})

test('a new threshold below the usage publishes at the next call', async ({ ledger }) => {
  await ledger.recordCall(10, 0)
  await ledger.addThreshold({ limit: 5 })
  await ledger.recordCall(1, 0)
  assert.is(ledger.published[0]?.value, 11)
})

test('calls recovered after a crash can exceed a threshold', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 40 })
  await ledger.begin({}, PRICED, 40)
  await ledger.restart()
  assert.is(ledger.published[0]?.value, 40)
})

test.run()
