import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { CallOrigin } from '../../daemon/core/meter.ts'
import { createUsageReportService, type UsageReportService } from '../../daemon/usage/usage-report-service.ts'
import { PRICED, TestLedger, UNPRICED } from './usage-fixture.ts'

const test = suite<{ ledger: TestLedger; statistics: UsageReportService }>('usage statistics')

test.before.each(async (context) => {
  context.ledger = await TestLedger.open()
  context.statistics = createUsageReportService(context.ledger.database, () => context.ledger.clock)
})
test.after.each(({ ledger }) => ledger.close())

test('without calls all figures are zero', async ({ statistics }) => {
  assert.equal(await statistics.getStatistics({}), {
    total_tokens: 0,
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    calls: 0,
    total_cost: 0,
    currency: 'USD',
    unpriced_tokens: 0,
    estimated_tokens: 0,
    by_model: {},
    by_entity: {},
  })
  assert.equal((await statistics.getCosts({})).by_day, [])
})

test('an unknown price is reported as null, and sums report unpriced tokens', async ({ ledger, statistics }) => {
  await ledger.recordCall(11, 7, { agent_id: 'agent_a' }, UNPRICED)
  const alone = await statistics.getStatistics({})
  assert.equal([alone.total_cost, alone.unpriced_tokens], [null, 18])
  await ledger.recordCall(11, 7, { agent_id: 'agent_b' })
  const { total_cost, unpriced_tokens, by_model, by_entity } = await statistics.getStatistics({})
  assert.equal([total_cost, unpriced_tokens], [0.016, 18])
  assert.equal(by_model, {
    [UNPRICED.id]: { tokens: 18, cost: null, unpriced_tokens: 18, estimated_tokens: 0 },
    [PRICED.id]: { tokens: 18, cost: 0.016, unpriced_tokens: 0, estimated_tokens: 0 },
  })
  assert.equal(by_entity.agent, { agent_a: by_model[UNPRICED.id], agent_b: by_model[PRICED.id] })
  assert.equal(by_entity.model, by_model)
})

test('tokens that the provider did not report are counted as estimated', async ({ ledger, statistics }) => {
  await ledger.recordCall(11, 7, { agent_id: 'agent_a' })
  await ledger.settle(await ledger.begin({ agent_id: 'agent_b' }), 5, 3, { estimated: true })
  const { total_tokens, estimated_tokens, by_model, by_entity } = await statistics.getStatistics({})
  assert.equal([total_tokens, estimated_tokens, by_model[PRICED.id]?.estimated_tokens], [26, 8, 8])
  assert.equal([by_entity.agent?.agent_a?.estimated_tokens, by_entity.agent?.agent_b?.estimated_tokens], [0, 8])
  const costs = await statistics.getCosts({ start_date: '2026-01-31T09:00:00Z', end_date: '2026-01-31T10:00:00Z' })
  assert.equal([costs.estimated_tokens, costs.by_day.map((day) => day.estimated_tokens)], [8, [8]])
})

test('a price of 0 is a known price', async ({ ledger, statistics }) => {
  await ledger.recordCall(11, 7, {}, { id: 'model_free', price: { input: 0, output: 0 } })
  const { total_cost, unpriced_tokens } = await statistics.getStatistics({})
  assert.equal([total_cost, unpriced_tokens], [0, 0])
})

test('sums have no floating-point error', async ({ ledger, statistics }) => {
  for (let call = 0; call < 3; call++) await ledger.recordCall(1000, 0, {}, { id: 'model_dime', price: { input: 0.1, output: 0 } })
  assert.is((await statistics.getStatistics({})).total_cost, 0.3)
})

test('open calls are not counted', async ({ ledger, statistics }) => {
  await ledger.begin()
  assert.is((await statistics.getStatistics({})).calls, 0)
  assert.is((await statistics.getStatistics({ start_date: '2026-01-31T09:00:00Z' })).calls, 0)
})

test('users named like object properties are counted', async ({ ledger, statistics }) => {
  for (const user_id of ['__proto__', 'constructor']) await ledger.recordCall(1, 1, { user_id })
  assert.is(JSON.stringify((await statistics.getStatistics({})).by_entity.user), JSON.stringify(expectTwo(['__proto__', 'constructor'])))
})

const expectTwo = (ids: string[]) =>
  Object.fromEntries(ids.map((id) => [id, { tokens: 2, cost: 0.002, unpriced_tokens: 0, estimated_tokens: 0 }]))

test('statistics can be filtered by entity or by entity type', async ({ ledger, statistics }) => {
  await ledger.recordCall(1, 1, { agent_id: 'agent_a', user_id: 'ada' })
  await ledger.recordCall(1, 1, { agent_id: 'agent_b' })
  await ledger.recordCall(5, 5, { user_id: 'ada' })
  const all = await statistics.getStatistics({ entity_type: 'agent' })
  assert.is(all.total_tokens, 4)
  assert.equal(all.by_entity, { agent: expectTwo(['agent_a', 'agent_b']) })
  const one = await statistics.getStatistics({ entity_type: 'agent', entity_id: 'agent_a' })
  assert.equal(one.by_entity, { agent: expectTwo(['agent_a']) })
  assert.is((await statistics.getStatistics({ entity_type: 'model', entity_id: PRICED.id })).total_tokens, 14)
  assert.equal(Object.keys((await statistics.getStatistics({ entity_type: 'model' })).by_entity), ['model'])
  assert.is((await statistics.getStatistics({ entity_type: 'agent', entity_id: 'agent_gone' })).total_tokens, 0)
})

test('costs by day include empty days', async ({ ledger, statistics }) => {
  await ledger.recordCall(11, 7)
  ledger.clock = new Date('2026-02-02T10:00:00.000Z')
  await ledger.recordCall(11, 7)
  const spent = { tokens: 18, cost: 0.016, unpriced_tokens: 0, estimated_tokens: 0 }
  assert.equal((await statistics.getCosts({})).by_day, [
    { date: '2026-01-31', ...spent },
    { date: '2026-02-01', tokens: 0, cost: 0, unpriced_tokens: 0, estimated_tokens: 0 },
    { date: '2026-02-02', ...spent },
  ])
})

test('all statistics agree with the individual calls', async ({ ledger, statistics }) => {
  const random = generator(7)
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T
  const begins = Date.parse('2025-11-28T00:00:00Z')
  const calls: { at: string; model: string; origin: CallOrigin; tokens: number; cost: number | null }[] = []
  for (let number = 0; number < 250; number++) {
    const at = new Date(begins + Math.floor(random() * 100) * 86_400_000 + Math.floor(random() * 24) * 3_600_000)
    const origin: CallOrigin = {}
    if (random() < 0.8) origin.agent_id = pick(['agent_a', 'agent_b'])
    if (random() < 0.5) origin.user_id = pick(['ada', 'bob', 'cleo'])
    if (random() < 0.2) origin.evaluation_id = 'eval_1'
    const model = pick([PRICED, PRICED, UNPRICED])
    ledger.clock = at
    const [input, output] = [Math.floor(random() * 500), Math.floor(random() * 100)]
    calls.push({
      at: at.toISOString(),
      model: model.id,
      origin,
      tokens: input + output,
      cost: await ledger.recordCall(input, output, origin, model),
    })
  }
  const moment = () => {
    const at = new Date(begins + Math.floor(random() * 105 * 24) * 3_600_000).toISOString()
    return random() < 0.5 ? at.slice(0, 10) : at
  }
  for (let round = 0; round < 150; round++) {
    const [one, other] = [moment(), moment()].sort() as [string, string]
    const [start_date, end_date] = [random() < 0.8 ? one : undefined, random() < 0.8 ? other : undefined]
    const entity = pick([
      undefined,
      ['agent', 'agent_a'],
      ['agent'],
      ['user', 'bob'],
      ['user'],
      ['model', UNPRICED.id],
      ['model'],
      ['evaluation', 'eval_1'],
    ])
    const query = {
      ...(start_date ? { start_date } : {}),
      ...(end_date ? { end_date } : {}),
      ...(entity ? { entity_type: entity[0] as 'agent' } : {}),
      ...(entity?.[1] ? { entity_id: entity[1] } : {}),
    }
    const last = end_date?.length === 10 ? `${end_date}T23:59:59.999Z` : end_date
    const field = entity && entity[0] !== 'model' ? (`${entity[0]}_id` as keyof CallOrigin) : undefined
    const wanted = calls.filter(({ at, model, origin }) => {
      if ((start_date && at < new Date(start_date).toISOString()) || (last && at > new Date(last).toISOString())) return false
      if (field) return entity?.[1] ? origin[field] === entity[1] : origin[field] !== undefined
      return entity?.[1] ? model === entity[1] : true
    })
    const sum = (some: typeof calls) => some.reduce((total, { tokens }) => total + tokens, 0)
    const told = JSON.stringify(query)
    const found = await statistics.getStatistics(query)
    assert.is(found.total_tokens, sum(wanted), told)
    assert.is(found.calls, wanted.length, told)
    assert.ok(Math.abs((found.total_cost ?? 0) - wanted.reduce((total, { cost }) => total + (cost ?? 0), 0)) < 1e-9, told)
    for (const [id, { tokens }] of Object.entries(found.by_model)) assert.is(tokens, sum(wanted.filter(({ model }) => model === id)), told)
    for (const [type, ids] of Object.entries(found.by_entity))
      for (const [id, { tokens }] of Object.entries(ids))
        assert.is(
          tokens,
          sum(wanted.filter(({ origin, model }) => (type === 'model' ? model : origin[`${type}_id` as keyof CallOrigin]) === id)),
          `${type} ${id} ${told}`,
        )
    const costs = await statistics.getCosts(query)
    assert.equal(costs.by_entity, found.by_entity, told)
    for (const { date, tokens } of costs.by_day) assert.is(tokens, sum(wanted.filter(({ at }) => at.startsWith(date))), `${date} ${told}`)
    assert.is(
      costs.by_day.reduce((total, { tokens }) => total + tokens, 0),
      found.total_tokens,
      told,
    )
  }
})

/** Creates a deterministic generator of pseudo-random numbers. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

test.run()
