import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PRICED, TestLedger } from './usage-fixture.ts'

const test = suite<{ ledger: TestLedger }>('usage entries')

test.before.each(async (context) => {
  context.ledger = await TestLedger.open()
})
test.after.each(({ ledger }) => ledger.close())

const entered = (ledger: TestLedger, estimatedInput: number, evaluation_id = 'eval_a') =>
  ledger.meter.beginWithoutFlush({ model: PRICED, kind: 'chat', origin: { evaluation_id }, estimatedInput, maxOutput: 0 })

test('concurrent calls are inserted in one commit', async ({ ledger }) => {
  let commits = 0
  const { writeWithoutFlush: enter } = ledger.database
  ledger.database.writeWithoutFlush = (work) => {
    commits++
    return enter(work)
  }
  const ids = await Promise.all([entered(ledger, 5), entered(ledger, 7, 'eval_b'), entered(ledger, 9)])
  const stored = await ledger.database.all(
    `SELECT id, status, kind, began_at, model_id, agent_id, evaluation_id, price_input, price_output, input_tokens, output_tokens, cost
    FROM usage_calls ORDER BY input_tokens`,
  )
  const alike = {
    status: 'open',
    kind: 'chat',
    began_at: ledger.clock.toISOString(),
    model_id: PRICED.id,
    agent_id: null,
    cost: null,
    output_tokens: 0,
  }
  const of = (id: string | undefined, evaluation_id: string, input_tokens: number) => ({
    ...alike,
    id,
    evaluation_id,
    input_tokens,
    price_input: 0.5,
    price_output: 1.5,
  })
  assert.equal(
    stored.map((row) => Object.entries(row).sort()),
    [of(ids[0], 'eval_a', 5), of(ids[1], 'eval_b', 7), of(ids[2], 'eval_a', 9)].map((row) => Object.entries(row).sort()),
  )
  assert.is(commits, 1)
  assert.is(await entered(ledger, 1).then((id) => ids.includes(id)), false)
})

test('a batch admits only calls within the budget and rejects the others', async ({ ledger }) => {
  await ledger.addThreshold({ limit: 30, action: 'block' })
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => entered(ledger, 10)))
  assert.equal(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'in' : outcome.reason.code)),
    ['in', 'in', 'in', 'BUDGET_EXCEEDED', 'BUDGET_EXCEEDED'],
  )
  assert.equal(await ledger.database.all('SELECT count(*) AS calls FROM usage_calls'), [{ calls: 3 }])
})

test('a failed batch rejects all its calls, and later ones succeed', async ({ ledger }) => {
  await ledger.execute('ALTER TABLE usage_calls RENAME TO away')
  const outcomes = await Promise.allSettled([entered(ledger, 1), entered(ledger, 2)])
  assert.equal(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await ledger.execute('ALTER TABLE away RENAME TO usage_calls')
  assert.match(await entered(ledger, 3), /^call_/)
})

test.run()
