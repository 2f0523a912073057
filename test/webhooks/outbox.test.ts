import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../daemon/async/clock.ts'
import { EventBus } from '../../daemon/core/event-bus.ts'
import { fillOutbox } from '../../daemon/webhooks/outbox.ts'
import type { Run } from '../../src/contract/families/evaluation-runs.ts'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite<{ service: TestServer; resources: Resources }>('webhooks: outbox')

test.before.each(
  reportFailure(async (context) => {
    context.service = await TestServer.start()
    context.resources = new Resources(context.service)
  }),
)
test.after.each(reportFailure(({ service }) => service.close()))

const finished = {
  evaluation_id: 'eval_1',
  run_id: 'run_1',
  name: 'Smoke',
  status: 'completed' as const,
  summary: {} as Run['summary'],
  finished_at: '2026-01-31T09:30:00.000Z',
}

test('a completed conversation is delivered once to each subscribed, enabled webhook', async ({ service, resources }) => {
  const hook = (fields: object) =>
    expectData(
      service.post('/webhooks', { url: 'http://127.0.0.1:9/', allow_private_network: true, events: ['conversation.completed'], ...fields }),
      201,
    )
  const wanting = await hook({})
  await hook({ enabled: false })
  await hook({ events: ['evaluation.finished'] })
  const conversation = await resources.conversation({ user_id: 'ada' })
  await expectData(service.post(`/conversations/${conversation.id}/complete`))
  await expectData(service.post(`/conversations/${conversation.id}/complete`))
  const events = await service.database.all<{ id: string; type: string; body: string; created_at: string }>('SELECT * FROM events')
  assert.is(events.length, 1)
  const [{ id, type, body, created_at } = { id: '', type: '', body: '{}', created_at: '' }] = events
  assert.is(type, 'conversation.completed')
  const { data, ...rest } = JSON.parse(body)
  assert.equal(rest, { type, timestamp: created_at })
  assert.equal([data.conversation_id, data.agent_id, data.user_id, data.messages], [conversation.id, conversation.agent_id, 'ada', 0])
  const deliveries = await service.database.all('SELECT webhook_id, event_id, event FROM deliveries')
  assert.equal(deliveries, [{ webhook_id: wanting.id, event_id: id, event: type }])
})

test('a rolled-back change publishes no event', async ({ service }) => {
  await expectData(
    service.post('/webhooks', { url: 'http://127.0.0.1:9/', allow_private_network: true, events: ['evaluation.finished'], enabled: true }),
    201,
  )
  const events = new EventBus()
  fillOutbox(events, service.database, systemClock, () => {})
  const failing = service.database.write(async (transaction) => {
    await events.publish(transaction, 'evaluation.finished', finished)
    throw new Error('the change failed')
  })
  assert.match(await failing.then(String, String), /the change failed/)
  assert.equal(await service.database.all('SELECT id FROM events UNION SELECT id FROM deliveries'), [])
  await service.database.write((transaction) => events.publish(transaction, 'evaluation.finished', finished))
  assert.is((await service.database.all('SELECT id FROM events UNION SELECT id FROM deliveries')).length, 2)
})

test.run()
