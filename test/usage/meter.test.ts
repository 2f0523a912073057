import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PRICED, TestLedger, UNPRICED } from './usage-fixture.ts'

const test = suite<{ ledger: TestLedger }>('usage meter')

test.before.each(async (context) => {
  context.ledger = await TestLedger.open()
})
test.after.each(({ ledger }) => ledger.close())

test('a call is counted in total and for each entity of its origin', async ({ ledger }) => {
  const origin = { agent_id: 'agent_a', user_id: 'ada', conversation_id: 'conv_1', message_id: 'msg_1' }
  assert.is(await ledger.recordCall(11, 7, origin), 0.016)
  const counted = { day: '2026-01-31', model_id: PRICED.id, calls: 1, input_tokens: 11, output_tokens: 7, cost: 0.016 }
  assert.equal(await ledger.listDays(), [
    { entity_type: '', entity_id: '', ...counted },
    { entity_type: 'agent', entity_id: '', ...counted },
    { entity_type: 'agent', entity_id: 'agent_a', ...counted },
    { entity_type: 'user', entity_id: '', ...counted },
    { entity_type: 'user', entity_id: 'ada', ...counted },
  ])
  assert.equal(await ledger.database.all('SELECT DISTINCT month, calls, cost FROM usage_months'), [
    { month: '2026-01', calls: 1, cost: 0.016 },
  ])
})

test('settling a call again changes nothing', async ({ ledger }) => {
  const entry = await ledger.begin()
  const first = await ledger.settle(entry, 11, 7)
  assert.is(await ledger.settle(entry, 1000, 1000), first)
  const [everything] = await ledger.listDays()
  assert.equal([everything?.calls, everything?.input_tokens, everything?.output_tokens], [1, 11, 7])
})

test('settling calls together equals settling them one by one', async ({ ledger }) => {
  const origins = [{ agent_id: 'agent_a' }, { agent_id: 'agent_a' }, { agent_id: 'agent_b' }, {}]
  const amounts = [11, 20, 0, 3]
  const entries = await Promise.all(origins.map((origin) => ledger.begin(origin)))
  const settlements = entries.map((entry, at) => ({
    entry,
    call: { input_tokens: amounts[at] as number, output_tokens: 7, cached_tokens: 2, status: 'done' as const, estimated: false },
  }))
  await ledger.database.write((transaction) => ledger.meter.settleAll(transaction, settlements))
  const together = await ledger.listDays()
  assert.equal(
    together.map(({ entity_type, entity_id, calls, input_tokens }) => [entity_type, entity_id, calls, input_tokens]),
    [
      ['', '', 4, 34],
      ['agent', '', 3, 31],
      ['agent', 'agent_a', 2, 31],
      ['agent', 'agent_b', 1, 0],
    ],
  )
  await ledger.database.write((transaction) => ledger.meter.settleAll(transaction, settlements))
  assert.equal(await ledger.listDays(), together, 'settled twice')
  const alone = await TestLedger.open()
  for (const [at, origin] of origins.entries()) await alone.settle(await alone.begin(origin), amounts[at] as number, 7)
  assert.equal(await alone.listDays(), together)
  await alone.close()
})

test('settling an unknown entry throws and counts nothing', async ({ ledger }) => {
  const error = await ledger.getRejection(ledger.settle('call_none', 1, 1))
  assert.match(error?.message ?? '', /no ledger entry "call_none"/)
  assert.equal(await ledger.listDays(), [])
})

test('a rolled-back transaction leaves no entry and no sum', async ({ ledger }) => {
  const failed = ledger.database.write(async (transaction) => {
    const entry = await ledger.meter.begin(transaction, { model: PRICED, kind: 'chat', origin: {}, estimatedInput: 5 })
    await ledger.meter.settle(transaction, entry, { input_tokens: 1, output_tokens: 1, status: 'done', estimated: false })
    throw new Error('disk on fire')
  })
  assert.match((await ledger.getRejection(failed))?.message ?? '', /on fire/)
  assert.equal(await ledger.listDays(), [])
  assert.equal(await ledger.database.all('SELECT id FROM usage_calls'), [])
})

test('calls interrupted by a crash are counted by estimate, once', async ({ ledger }) => {
  const origin = { agent_id: 'agent_a' }
  const entry = await ledger.begin(origin, PRICED, 40)
  await ledger.database.write((transaction) => ledger.meter.estimate(transaction, entry, 25))
  const done = await ledger.begin(origin)
  await ledger.settle(done, 1, 1)
  assert.is(await ledger.restart(), 1)
  assert.is(await ledger.restart(), 0)
  const call = await ledger.database.get('SELECT status, input_tokens, output_tokens, estimated FROM usage_calls WHERE id = ?', [entry])
  assert.equal(call, { status: 'interrupted', input_tokens: 40, output_tokens: 25, estimated: 1 })
  const agent = (await ledger.listDays()).find(({ entity_type }) => entity_type === 'agent')
  assert.equal([agent?.calls, agent?.input_tokens, agent?.output_tokens], [2, 41, 26])
  // Settling it afterwards returns its cost and counts nothing twice.
  assert.is(await ledger.settle(entry, 40, 30), (40 * 0.5 + 25 * 1.5) / 1000)
})

test('an estimate after settlement is ignored', async ({ ledger }) => {
  const entry = await ledger.begin()
  await ledger.settle(entry, 11, 7)
  await ledger.database.write((transaction) => ledger.meter.estimate(transaction, entry, 9999))
  assert.is((await ledger.database.get('SELECT output_tokens FROM usage_calls'))?.output_tokens, 7)
})

test('a call without a price has no cost and counts as unpriced', async ({ ledger }) => {
  assert.is(await ledger.recordCall(11, 7, {}, UNPRICED), null)
  assert.equal(await ledger.database.all('SELECT cost, unpriced_tokens FROM usage_days'), [{ cost: 0, unpriced_tokens: 18 }])
})

test('invalid token counts are normalized', async ({ ledger }) => {
  await ledger.settle(await ledger.begin({}, PRICED, Number.NaN), -5, 7.4, { cached_tokens: 100 })
  const call = await ledger.database.get('SELECT input_tokens, output_tokens, cached_tokens FROM usage_calls')
  assert.equal(call, { input_tokens: 0, output_tokens: 7, cached_tokens: 0 })
})

test('a call counts for the day on which it began', async ({ ledger }) => {
  ledger.clock = new Date('2026-01-31T23:59:59.000Z')
  const entry = await ledger.begin()
  ledger.clock = new Date('2026-02-01T00:00:30.000Z')
  await ledger.settle(entry, 1, 1)
  assert.equal(
    (await ledger.listDays()).map(({ day }) => day),
    ['2026-01-31'],
  )
})

test('ten thousand small amounts add up exactly', async ({ ledger }) => {
  const model = { id: 'model_dime', price: { input: 0.1, output: 0 } }
  await ledger.database.write(async (transaction) => {
    for (let call = 0; call < 10_000; call++) {
      const entry = await ledger.meter.begin(transaction, { model, kind: 'chat', origin: {}, estimatedInput: 1 })
      await ledger.meter.settle(transaction, entry, { input_tokens: 1000, output_tokens: 0, status: 'done', estimated: false })
    }
  })
  const [everything] = await ledger.listDays()
  assert.ok(Math.abs((everything?.cost as number) - 1000) < 1e-9, String(everything?.cost))
})

test.run()
