import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EventBus } from '../../daemon/core/event-bus.ts'
import type { CallOrigin } from '../../daemon/core/meter.ts'
import { UsageMeter } from '../../daemon/usage/usage-meter.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { Resources } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'
import { PRICED } from './usage-fixture.ts'

const test = suite<{ service: TestServer; resources: Resources }>('usage routes')

test.before.each(async (context) => {
  context.service = await TestServer.start()
  context.resources = new Resources(context.service)
})
test.after.each(({ service }) => service.close())

/** Records and settles a call directly in the database of the service. */
async function used({ database }: TestServer, origin: CallOrigin, model = PRICED): Promise<void> {
  const meter = new UsageMeter({ database, events: new EventBus(), now: () => new Date() })
  await database.write(async (transaction) => {
    const entry = await meter.begin(transaction, { model, kind: 'chat', origin, estimatedInput: 10 })
    await meter.settle(transaction, entry, { input_tokens: 11, output_tokens: 7, cached_tokens: 4, status: 'done', estimated: false })
  })
}

test('an agent has statistics and costs', async ({ service }) => {
  for (let call = 0; call < 3; call++) await used(service, { agent_id: 'agent_a', user_id: 'ada' })
  await used(service, { agent_id: 'agent_b' })
  const stats = await expectData(service.get('/usage/stats?entity_type=agent&entity_id=agent_a'), 200)
  assert.equal([stats.total_tokens, stats.total_cost, stats.calls, stats.cached_tokens], [54, 0.048, 3, 12])
  const costs = await expectData(service.get('/usage/costs?entity_type=agent&entity_id=agent_a'), 200)
  assert.equal([costs.total_cost, costs.by_day.length, costs.by_day[0].tokens], [0.048, 1, 54])
})

test('costs have the currency of the settings, and keep their numbers', async ({ service }) => {
  await used(service, { agent_id: 'agent_a' })
  for (const currency of ['euro', 'EU', 'XXQ']) await expectError(service.put('/settings', { currency }), 'VALIDATION_ERROR')
  await expectData(service.put('/settings', { currency: 'EUR' }))
  assert.is((await expectData(service.get('/settings', { as: 'member' }))).currency, 'EUR')
  for (const path of ['/usage/stats', '/usage/costs']) {
    const { currency, total_cost } = await expectData(service.get(path))
    assert.equal([currency, total_cost], ['EUR', 0.016])
  }
  assert.is((await expectData(service.get('/analytics/conversations'))).currency, 'EUR')
})

test('the entity type is detected from the id', async ({ service, resources }) => {
  const agent = await resources.agent()
  await used(service, { agent_id: agent.id, user_id: 'grace' })
  await used(service, { agent_id: agent.id, user_id: 'linus' })
  for (const [id, tokens] of [
    [agent.id, 36],
    ['grace', 18],
    ['agent_nobody', 0],
  ]) {
    assert.is((await expectData(service.get(`/usage/stats?entity_id=${id}`))).total_tokens, tokens)
    assert.is((await expectData(service.get(`/usage/costs?entity_id=${id}`))).total_cost, (Number(tokens) / 18) * 0.016)
  }
  assert.is((await expectData(service.get(`/usage/stats?entity_id=${(await resources.model()).id}`))).total_tokens, 0)
})

test('dates accept a UTC offset', async ({ service }) => {
  await used(service, { agent_id: 'agent_offset' })
  const now = Date.now()
  const tokens = async (query: string) =>
    (await expectData(service.get(`/usage/stats?entity_type=agent&entity_id=agent_offset&${query.replaceAll('+', '%2B')}`))).total_tokens
  /** Formats the time with a UTC offset of this many hours. */
  const ahead = (moment: number, hours: number) =>
    new Date(moment + hours * 3_600_000)
      .toISOString()
      .replace('Z', `${hours < 0 ? '-' : '+'}${String(Math.abs(hours)).padStart(2, '0')}:00`)
  for (const hours of [-11, -1, 0, 2, 14]) {
    assert.is(await tokens(`start_date=${ahead(now - 60_000, hours)}`), 18, String(hours))
    assert.is(await tokens(`start_date=${ahead(now + 60_000, hours)}`), 0, String(hours))
    assert.is(await tokens(`end_date=${ahead(now + 60_000, hours)}`), 18, String(hours))
    assert.is(await tokens(`end_date=${ahead(now - 60_000, hours)}`), 0, String(hours))
  }
  assert.is((await service.get('/usage/stats?start_date=9999-12-31T23:59:59-05:00')).status, 400)
})

test('invalid dates and reversed ranges are rejected', async ({ service }) => {
  for (const query of [
    'start_date=yesterday',
    'end_date=2026-02-30',
    'start_date=2026-02-01&end_date=2026-01-01',
    'start_date=2026-01-01T24:00Z',
    'end_date=2026-01-01T10:00',
    'entity_type=dog',
  ])
    for (const path of ['stats', 'costs']) {
      const { status, body } = await service.get(`/usage/${path}?${query}`)
      assert.equal([status, body.code], [400, 'VALIDATION_ERROR'], query)
    }
})

test('viewers can read usage, members cannot', async ({ service }) => {
  assert.is((await service.get('/usage/stats', { as: 'viewer' })).status, 200)
  assert.is((await service.get('/usage/costs', { as: 'member' })).status, 403)
})

test('usage of deleted agents and models is kept', async ({ service, resources }) => {
  const [agent, model] = [await resources.agent(), await resources.model()]
  await used(service, { agent_id: agent.id }, { id: model.id, price: null })
  await expectData(service.delete(`/agents/${agent.id}`), 200)
  await expectData(service.delete(`/models/${model.id}`), 200)
  const { by_entity, by_model } = await expectData(service.get('/usage/stats'), 200)
  assert.is(by_entity.agent[agent.id].tokens, 18)
  assert.is(by_model[model.id].tokens, 18)
})

test('calls interrupted by a crash are counted at the next start', async (context) => {
  const { database } = context.service
  const meter = new UsageMeter({ database, events: new EventBus(), now: () => new Date() })
  await database.write((transaction) => meter.begin(transaction, { model: PRICED, kind: 'chat', origin: {}, estimatedInput: 10 }))
  context.service = await TestServer.start({ home: await context.service.stop() })
  assert.is((await expectData(context.service.get('/usage/stats'), 200)).total_tokens, 10)
})

test('deleting a threshold names it by its name, otherwise by its limit', async ({ service, resources }) => {
  const remove = async (fields: object) => {
    const { id } = await resources.threshold({ limit: 5, action: 'notify', ...fields })
    return (await service.delete(`/usage/thresholds/${id}`)).body.message
  }
  assert.is(await remove({ name: 'Team budget' }), 'The usage threshold "Team budget" was deleted.')
  assert.match(await remove({}), /^The usage threshold "5 tokens a \w+" was deleted\.$/)
})

test('deleting an agent deletes its threshold', async ({ service, resources }) => {
  const agent = await resources.agent()
  const threshold = await resources.threshold({ limit: 0, action: 'block', entity_type: 'agent', entity_id: agent.id })
  const { database } = service
  const meter = new UsageMeter({ database, events: new EventBus(), now: () => new Date() })
  const refused = await meter.checkBudget(PRICED, { agent_id: agent.id }).then(
    () => undefined,
    (error: Error) => error.message,
  )
  assert.match(refused ?? '', /is reached/)
  await expectData(service.delete(`/agents/${agent.id}?force=true`), 200)
  assert.is((await service.get(`/usage/thresholds/${threshold.id}`)).status, 404)
  await meter.checkBudget(PRICED, { agent_id: agent.id })
})

test.run()
