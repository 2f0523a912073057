import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Outbound } from '../../daemon/outbound/client.ts'
import type { StoredEvent } from '../../daemon/webhooks/outbox-store.ts'
import { sendDelivery } from '../../daemon/webhooks/send-delivery.ts'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { Receiver } from './receiver.ts'
import { completeConversation, createWebhook, listDeliveries, waitForDelivery } from './webhook-fixture.ts'

const test = suite<{ service: TestServer }>('webhooks: slow receivers')

test.before.each(
  reportFailure(async (context) => {
    context.service = await TestServer.start()
  }),
)
test.after.each(reportFailure(({ service }) => service.close()))

/** Publishes this many events, as if that many conversations had been completed. */
async function flood(service: TestServer, hook: Json, many: number): Promise<void> {
  const at = new Date().toISOString()
  await service.database.write(async (transaction) => {
    const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)'
    await transaction.run(
      `${numbers} INSERT INTO events (id, type, body, created_at) SELECT 'evt_' || i, 'conversation.completed', '{}', ? FROM n`,
      [many, at],
    )
    await transaction.run(
      `${numbers} INSERT INTO deliveries
         (id, webhook_id, event_id, event, status, attempts, step, next_attempt_at, history, created_at, updated_at)
       SELECT 'dlv_' || i, ?, 'evt_' || i, 'conversation.completed', 'pending', 0, 0, ?, '[]', ?, ? FROM n`,
      [many, hook.id, at, at, at],
    )
  })
}

test('ten thousand events for a silent receiver delay neither other webhooks nor conversations', async ({ service }) => {
  const silent = await Receiver.start(() => {})
  const quick = await Receiver.start()
  const slow = await createWebhook(service, silent.url)
  await flood(service, slow, 10_000)
  const other = await createWebhook(service, quick.url) // notifies the dispatcher
  await silent.count(4)
  for (let count = 1; count <= 20; count++) {
    await completeConversation(service)
    await quick.count(count)
  }
  await waitForDelivery(service, other, 'delivered')
  assert.is(silent.received.length, 4, 'the limit per webhook')
  assert.is((await listDeliveries(service, slow, '?status=pending&limit=1')).length, 1)
  await Promise.all([silent.close(), quick.close()])
})

test('pending deliveries arrive once each, at most four at a time', async ({ service }) => {
  let atOnce = 0
  let most = 0
  const receiver = await Receiver.start((reply) => {
    most = Math.max(most, ++atOnce)
    setImmediate(() => {
      atOnce--
      reply.writeHead(204).end()
    })
  })
  const hook = await createWebhook(service, receiver.url)
  await flood(service, hook, 500)
  await expectData(service.patch(`/webhooks/${hook.id}`, { description: 'go' }))
  await receiver.count(500)
  assert.ok(most <= 4, `${most} concurrent attempts`)
  assert.is(new Set(receiver.received.map(({ id }) => id)).size, 500)
  await waitFor(async () => (await listDeliveries(service, hook, '?status=pending')).length === 0, { intervalMs: 5 })
  assert.is(receiver.received.length, 500)
  await receiver.close()
})

test('an attempt aborted by a stop is repeated after the start with the same id', async (context) => {
  const receiver = await Receiver.start(() => {})
  const hook = await createWebhook(context.service, receiver.url)
  await completeConversation(context.service)
  await receiver.count(1)
  const home = await context.service.stop()
  receiver.answer = (reply) => reply.writeHead(200).end()
  context.service = await TestServer.start({ home })
  const delivery = await waitForDelivery(context.service, hook, 'delivered')
  assert.equal([delivery.attempts, receiver.received.length], [1, 2])
  assert.is(receiver.received[0]?.id, receiver.received[1]?.id)
  await receiver.close()
})

test('a stop waits briefly for running attempts', async (context) => {
  const receiver = await Receiver.start((reply) => setTimeout(() => reply.writeHead(200).end(), 300))
  const hook = await createWebhook(context.service, receiver.url)
  await completeConversation(context.service)
  await receiver.count(1)
  context.service = await TestServer.start({ home: await context.service.stop() })
  const [delivery] = await listDeliveries(context.service, hook)
  assert.equal([delivery.status, delivery.attempts, receiver.received.length], ['delivered', 1, 1])
  await receiver.close()
})

test('an attempt times out after 15 seconds', async () => {
  let waited: number | undefined
  const request: Outbound['request'] = (_, options) => {
    waited = options?.timeoutMs
    return Promise.reject(new Error('no response'))
  }
  const { status, error } = await sendDelivery({ request } as Outbound, {
    webhook: { url: 'http://127.0.0.1:9', allow_private_network: true },
    secrets: [],
    event: { id: 'evt_1', body: '{}' } as StoredEvent,
    now: 0,
    signal: new AbortController().signal,
  })
  assert.equal([waited, status, error], [15_000, null, 'no response'])
})

test.run()
