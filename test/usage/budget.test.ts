import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PRICED, TestLedger, UNPRICED } from './usage-fixture.ts'

const AGENT = { agent_id: 'agent_a' }

const test = suite<{ ledger: TestLedger }>('usage budget')

test.before.each(async (context) => {
  context.ledger = await TestLedger.open()
})
test.after.each(({ ledger }) => ledger.end())

test('a line that blocks refuses once it is reached, and says what, which and until when', async ({ ledger }) => {
  const id = await ledger.line({ limit: 18, action: 'block', entity: ['agent', 'agent_a'] })
  await ledger.meter.checkBudget(PRICED, AGENT)
  await ledger.use(11, 7, AGENT)
  const error = await ledger.refusal(ledger.meter.checkBudget(PRICED, AGENT))
  assert.is(error?.code, 'BUDGET_EXCEEDED')
  assert.is(error?.status, 402)
  assert.is(error?.message, 'The limit of 18 tokens per day for the agent "agent_a" is reached: 18 used. No model was called.')
  assert.match(error?.hint ?? '', new RegExp(`2026-02-01T00:00:00Z.*thresholds update ${id} --limit 36`))
  assert.match(error?.details?.[0]?.problem ?? '', new RegExp(id))
})

test('the limit that is proposed is above what is used', async ({ ledger }) => {
  await ledger.use(110, 70, AGENT)
  await ledger.line({ limit: 10, action: 'block', entity: ['agent', 'agent_a'] })
  const error = await ledger.refusal(ledger.meter.checkBudget(PRICED, AGENT))
  assert.match(error?.hint ?? '', '--limit 360')
})

test('others than the one it is about go on', async ({ ledger }) => {
  await ledger.line({ limit: 1, action: 'block', entity: ['agent', 'agent_a'] })
  await ledger.use(11, 7, AGENT)
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
  test(`a line over a ${type} holds`, async ({ ledger }) => {
    await ledger.line({ limit: 5, action: 'block', entity: [type, 'x'] })
    await ledger.use(5, 0, origin)
    assert.is((await ledger.refusal(ledger.meter.checkBudget(UNPRICED, origin)))?.code, 'BUDGET_EXCEEDED')
  })

test('a line over a model counts that model, whoever calls it', async ({ ledger }) => {
  await ledger.line({ limit: 5, action: 'block', entity: ['model', PRICED.id] })
  await ledger.use(100, 0, AGENT, UNPRICED)
  await ledger.meter.checkBudget(PRICED, AGENT)
  await ledger.use(5, 0, { user_id: 'ada' })
  assert.is((await ledger.refusal(ledger.meter.checkBudget(PRICED, AGENT)))?.code, 'BUDGET_EXCEEDED')
  await ledger.meter.checkBudget(UNPRICED, AGENT)
})

test('a line over everything counts everything, and a line of 0 lets nothing through', async ({ ledger }) => {
  const id = await ledger.line({ limit: 0, action: 'block' })
  assert.match((await ledger.refusal(ledger.meter.checkBudget(PRICED, {})))?.message ?? '', /all usage is reached: 0 used/)
  await ledger.change('DELETE FROM usage_thresholds WHERE id = ?', [id])
  await ledger.meter.checkBudget(PRICED, {})
})

test('cost is counted to the cent: eight times 0.1 reach 0.8', async ({ ledger }) => {
  await ledger.line({ metric: 'cost', limit: 0.8, action: 'block' })
  const dime = { id: 'model_dime', price: { input: 0.1, output: 0 } }
  for (let call = 0; call < 8; call++) await ledger.use(1000, 0, {}, dime)
  assert.match((await ledger.refusal(ledger.meter.checkBudget(dime, {})))?.message ?? '', /0\.8 in cost per day .* 0\.8 used/)
})

test('a day ends at midnight UTC and a month with its last day', async ({ ledger }) => {
  await ledger.line({ limit: 10, action: 'block' })
  await ledger.use(10, 0)
  assert.ok(await ledger.refusal(ledger.meter.checkBudget(PRICED, {})))
  ledger.clock = new Date('2026-02-01T00:00:00.000Z')
  await ledger.meter.checkBudget(PRICED, {})
  const month = await ledger.line({ limit: 10, period: 'month', action: 'block' })
  await ledger.use(9, 0)
  ledger.clock = new Date('2026-02-28T23:59:59.999Z')
  await ledger.use(1, 0)
  assert.match((await ledger.refusal(ledger.meter.checkBudget(PRICED, {})))?.hint ?? '', new RegExp(`2026-03-01T00:00:00Z.*${month}`))
  ledger.clock = new Date('2026-03-01T00:00:00.000Z')
  await ledger.meter.checkBudget(PRICED, {})
})

test('of fifty calls side by side only those get in for which there is room', async ({ ledger }) => {
  await ledger.line({ limit: 100, action: 'block', entity: ['agent', 'agent_a'] })
  await ledger.use(8, 12, AGENT) // a mean call takes 20
  const begun = await Promise.allSettled(
    Array.from({ length: 50 }, async () => {
      await ledger.meter.checkBudget(PRICED, AGENT)
      return ledger.begin(AGENT, PRICED, 8)
    }),
  )
  const entered = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  assert.is(entered.length, 4) // 20 used, and four of 20 are under way
  const refused = begun.find((one) => one.status === 'rejected') as PromiseRejectedResult
  assert.match(refused.reason.message, /20 used, the rest reserved by 4 running calls/)
  for (const entry of entered) await ledger.settle(entry, 1, 1) // they took less
  await ledger.meter.checkBudget(PRICED, AGENT)
})

test('calls that are open count as much as they read, where that is more than the mean', async ({ ledger }) => {
  await ledger.line({ limit: 1000, action: 'block', entity: ['agent', 'agent_a'] })
  await ledger.begin(AGENT, PRICED, 1000)
  assert.match((await ledger.refusal(ledger.meter.checkBudget(PRICED, AGENT)))?.message ?? '', /one running call/)
  await ledger.meter.checkBudget(PRICED, { agent_id: 'agent_b' })
})

test('a crossing is told once a period, at the call that crossed', async ({ ledger }) => {
  const id = await ledger.line({ limit: 30, entity: ['agent', 'agent_a'] })
  await ledger.use(11, 7, AGENT)
  assert.equal(ledger.told, [])
  await ledger.use(11, 7, AGENT)
  assert.equal(ledger.told, [
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
  await ledger.use(11, 7, AGENT)
  await ledger.restart()
  await ledger.use(11, 7, AGENT)
  assert.is(ledger.told.length, 1)
  ledger.clock = new Date('2026-02-01T08:00:00.000Z')
  await ledger.use(11, 7, AGENT)
  await ledger.use(11, 7, AGENT)
  assert.equal(
    ledger.told.map(({ period_start }) => period_start),
    ['2026-01-31T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
  )
})

test('what cannot be told is not counted either: both are one transaction', async ({ ledger }) => {
  await ledger.line({ limit: 1 })
  const entry = await ledger.begin()
  const failed = ledger.database.write(async (transaction) => {
    await ledger.meter.settle(transaction, entry, { input_tokens: 5, output_tokens: 0, status: 'done', estimated: false })
    throw new Error('disk on fire')
  })
  assert.ok(await ledger.refusal(failed))
  await ledger.settle(entry, 5, 0)
  assert.is(ledger.told.length, 2) // heard of twice, kept once: the first went with its transaction
  assert.equal(await ledger.database.all('SELECT "limit" FROM usage_notices'), [{ limit: 1 }])
})

test('a line that blocks tells too; one that was raised is armed again, one that was lowered is not', async ({ ledger }) => {
  const id = await ledger.line({ limit: 10, action: 'block' })
  await ledger.use(10, 0)
  assert.is(ledger.told[0]?.action, 'block')
  const limit = (value: number) => ledger.change('UPDATE usage_thresholds SET "limit" = ? WHERE id = ?', [value, id])
  await limit(5)
  assert.ok(await ledger.refusal(ledger.begin()))
  await limit(20)
  await ledger.use(5, 0)
  assert.is(ledger.told.length, 1)
  await ledger.use(5, 0)
  assert.equal(
    ledger.told.map((told) => [told.limit, told.value]),
    [
      [10, 10],
      [20, 20],
    ],
  )
})

test('a line that is drawn below what is used already is told at the next call', async ({ ledger }) => {
  await ledger.use(10, 0)
  await ledger.line({ limit: 5 })
  await ledger.use(1, 0)
  assert.is(ledger.told[0]?.value, 11)
})

test('what a kill cut off is told of after the restart', async ({ ledger }) => {
  await ledger.line({ limit: 40 })
  await ledger.begin({}, PRICED, 40)
  await ledger.restart()
  assert.is(ledger.told[0]?.value, 40)
})

test.run()
