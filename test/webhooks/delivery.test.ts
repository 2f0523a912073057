import { Webhook } from 'standardwebhooks'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { type Answering, type Received, Receiver } from './receiver.ts'
import { completeConversation, createWebhook, listDeliveries, waitForDelivery } from './webhook-fixture.ts'

interface Context {
  service: TestServer
  receiver: Receiver
  hook: Json
}

const test = suite<Context>('webhooks: deliveries')

test.before.each(
  reportFailure(async (context) => {
    context.service = await TestServer.start()
    context.receiver = await Receiver.start()
    context.hook = await createWebhook(context.service, context.receiver.url)
  }),
)
test.after.each(
  reportFailure(async ({ service, receiver }) => {
    await service.close()
    await receiver.close()
  }),
)

const verifies = (secret: string, { body, headers }: Received): boolean => {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false // no response
  }
}
const answering =
  (status: number, body = '', headers: Record<string, string> = {}): Answering =>
  (reply) =>
    reply.writeHead(status, headers).end(body)

test('an event is sent as JSON with a valid Standard Webhooks signature', async ({ service, receiver, hook }) => {
  const conversation = await completeConversation(service)
  const [received] = (await receiver.count(1)) as [Received]
  assert.ok(verifies(hook.secret, received))
  assert.not(verifies(`whsec_${Buffer.alloc(32, 1).toString('base64')}`, received))
  assert.not(verifies(hook.secret, { ...received, body: `${received.body} ` }))
  assert.is(received.headers['content-type'], 'application/json')
  const { type, timestamp, data } = JSON.parse(received.body)
  assert.is(type, 'conversation.completed')
  assert.ok(Date.parse(timestamp) > 0)
  assert.is(data.conversation_id, conversation.id)
  const delivery = await waitForDelivery(service, hook, 'delivered')
  assert.equal([delivery.event_id, delivery.webhook_id, delivery.attempts, delivery.response_status], [received.id, hook.id, 1, 204])
  assert.equal(delivery.body, JSON.parse(received.body))
})

test('previous secrets sign for a day after a rotation', async ({ service, receiver, hook }) => {
  const rotate = (body?: Json) => expectData(service.post(`/webhooks/${hook.id}/rotate-secret`, body))
  const second = await rotate()
  assert.match(second.secret, /^whsec_/)
  assert.is.not(second.secret, hook.secret)
  await completeConversation(service)
  await receiver.count(1)
  const third = await rotate({ secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}` })
  await completeConversation(service)
  const [first, next] = (await receiver.count(2)) as [Received, Received]
  assert.equal([verifies(hook.secret, first), verifies(second.secret, first), verifies(third.secret, first)], [true, true, false])
  assert.equal([verifies(hook.secret, next), verifies(second.secret, next), verifies(third.secret, next)], [true, true, true])
  assert.is(first.headers['webhook-signature']?.split(' ').length, 2)
  const fourth = await rotate({ overlap_hours: 0 })
  await completeConversation(service)
  const [, , last] = (await receiver.count(3)) as [Received, Received, Received]
  assert.equal([verifies(third.secret, last), verifies(fourth.secret, last)], [false, true])
  await expectError(service.post(`/webhooks/${hook.id}/rotate-secret`, { secret: `whsec_${'A'.repeat(100)}` }), 'VALIDATION_ERROR', {
    field: 'secret',
  })
  assert.not.match(JSON.stringify(await expectData(service.get(`/webhooks/${hook.id}`))), /whsec_|previous/)
})

test('status 410 disables the webhook until it is enabled again', async ({ service, receiver, hook }) => {
  receiver.answer = answering(410)
  await completeConversation(service)
  const failed = await waitForDelivery(service, hook, 'failed')
  assert.match(failed.error, /410.*disabled/)
  assert.is((await expectData(service.get(`/webhooks/${hook.id}`))).enabled, false)
  await completeConversation(service)
  assert.is((await listDeliveries(service, hook)).length, 1, 'events are not delivered while it is disabled')
  await expectError(service.post(`/webhooks/${hook.id}/deliveries/${failed.id}/redeliver`), 'CONFLICT', { hint: /--enabled/ })
  receiver.answer = answering(200)
  await expectData(service.patch(`/webhooks/${hook.id}`, { enabled: true }))
  assert.is((await expectData(service.post(`/webhooks/${hook.id}/deliveries/${failed.id}/redeliver`))).status, 'delivered')
})

test('a disabled webhook keeps pending deliveries until it is enabled', async ({ service, receiver, hook }) => {
  receiver.answer = answering(500)
  await completeConversation(service)
  const { id } = await waitForDelivery(service, hook, 'pending')
  await expectData(service.patch(`/webhooks/${hook.id}`, { enabled: false }))
  receiver.answer = answering(200)
  // Makes the next attempt due.
  await service.database.write((transaction) => transaction.run('UPDATE deliveries SET next_attempt_at = created_at WHERE id = ?', [id]))
  await expectData(service.patch(`/webhooks/${hook.id}`, { description: 'still disabled' }))
  assert.is(receiver.received.length, 1)
  await expectData(service.patch(`/webhooks/${hook.id}`, { enabled: true }))
  await waitForDelivery(service, hook, 'delivered')
  assert.is(new Set(receiver.received.map((one) => one.id)).size, 1)
})

test('redirects fail and are not followed', async ({ service, receiver, hook }) => {
  const elsewhere = await Receiver.start()
  receiver.answer = answering(307, '', { location: elsewhere.url })
  const delivery = await expectData(service.post(`/webhooks/${hook.id}/test`))
  assert.equal(
    [delivery.status, delivery.response_status, delivery.error],
    ['failed', 307, 'The receiver responded with 307. Redirects are not followed.'],
  )
  assert.is(elsewhere.received.length, 0)
  await elsewhere.close()
})

test('private addresses need allow_private_network', async ({ service, receiver, hook }) => {
  const { port } = new URL(receiver.url)
  for (const host of ['127.0.0.1', 'localhost', '10.0.0.1'])
    await expectError(service.post('/webhooks', { url: `http://${host}:${port}/`, events: ['memory.created'] }), 'ADDRESS_BLOCKED', {
      hint: /--allow-private-network/,
    })
  for (const url of [receiver.url, receiver.url.replace('127.0.0.1', 'localhost')]) {
    // As earlier versions stored it, and as names do that resolve to a private address.
    await service.database.write((transaction) =>
      transaction.run('UPDATE webhooks SET url = ?, allow_private_network = 0 WHERE id = ?', [url, hook.id]),
    )
    const delivery = await expectData(service.post(`/webhooks/${hook.id}/test`))
    assert.is(delivery.status, 'failed')
    assert.match(delivery.error, /private network|the daemon's own machine/)
  }
  assert.is(receiver.received.length, 0)
})

test('the beginning of any response body is stored', async ({ service, receiver, hook }) => {
  receiver.answer = (reply) => reply.writeHead(500).end(Buffer.concat([Buffer.from('a\0b\xff', 'latin1'), Buffer.alloc(200_000, 'x')]))
  const delivery = await expectData(service.post(`/webhooks/${hook.id}/test`))
  assert.is(delivery.response_body.length, 1000)
  assert.match(delivery.response_body, /^a\uFFFDb\uFFFDxxx/)
})

test('the status decides even if the response body is cut off', async ({ service, receiver, hook }) => {
  receiver.answer = (reply) => {
    reply.writeHead(200, { 'content-length': '100' }).write('begun')
    setImmediate(() => reply.destroy())
  }
  const delivery = await expectData(service.post(`/webhooks/${hook.id}/test`))
  assert.equal([delivery.status, delivery.response_status, delivery.error], ['delivered', 200, null])
})

test('a test event is signed and sent once, to one webhook', async ({ service, receiver, hook }) => {
  await expectData(service.patch(`/webhooks/${hook.id}`, { enabled: false }))
  const other = await createWebhook(service, receiver.url)
  const delivery = await expectData(service.post(`/webhooks/${hook.id}/test`))
  assert.equal([delivery.event, delivery.status, delivery.attempts, delivery.body.type], ['webhook.test', 'delivered', 1, 'webhook.test'])
  const [received] = receiver.received as [Received]
  assert.ok(verifies(hook.secret, received))
  receiver.answer = answering(503)
  const failed = await expectData(service.post(`/webhooks/${hook.id}/test`))
  assert.equal([failed.status, failed.next_attempt_at], ['failed', null])
  assert.equal(await listDeliveries(service, other), [])
})

test('redelivery keeps the event id and restarts the schedule', async ({ service, receiver, hook }) => {
  await completeConversation(service)
  const { id } = await waitForDelivery(service, hook, 'delivered')
  const again = await expectData(service.post(`/webhooks/${hook.id}/deliveries/${id}/redeliver`))
  assert.equal([again.id, again.status, again.attempts, again.history.length], [id, 'delivered', 2, 2])
  assert.is(receiver.received[0]?.id, receiver.received[1]?.id)
  receiver.answer = answering(500)
  const before = Date.now()
  const failed = await expectData(service.post(`/webhooks/${hook.id}/deliveries/${id}/redeliver`))
  assert.equal([failed.status, failed.attempts], ['pending', 3])
  const delay = Date.parse(failed.next_attempt_at) - before
  assert.ok(delay >= 5_000, `${delay} ms`)
})

test('deliveries are listed newest first and filtered by status and event', async ({ service, receiver, hook }) => {
  await completeConversation(service)
  await waitForDelivery(service, hook, 'delivered')
  receiver.answer = answering(500)
  await expectData(service.post(`/webhooks/${hook.id}/test`))
  const events = async (query: string) => (await listDeliveries(service, hook, query)).map(({ event }: Json) => event)
  assert.equal(await events(''), ['webhook.test', 'conversation.completed'])
  assert.equal(await events('?order=asc&limit=1'), ['conversation.completed'])
  assert.equal(await events('?status=failed'), ['webhook.test'])
  assert.equal(await events('?event=conversation.completed'), ['conversation.completed'])
  assert.equal(await events('?status=failed&event=conversation.completed'), [])
  await expectError(service.get(`/webhooks/${hook.id}/deliveries?state=failed`), 'VALIDATION_ERROR')
})

test('deliveries belong to a webhook and are deleted with it', async ({ service, receiver, hook }) => {
  const { id } = await expectData(service.post(`/webhooks/${hook.id}/test`))
  const other = await createWebhook(service, receiver.url)
  await expectError(service.get(`/webhooks/${other.id}/deliveries/${id}`), 'NOT_FOUND')
  await expectError(service.post(`/webhooks/${other.id}/deliveries/${id}/redeliver`), 'NOT_FOUND')
  await expectError(service.get(`/webhooks/${hook.id}/deliveries/dlv_none`), 'NOT_FOUND')
  await expectError(service.get(`/webhooks/${hook.id}/deliveries/${id}`, { as: 'editor' }), 'FORBIDDEN')
  assert.is((await service.delete(`/webhooks/${hook.id}`)).status, 200)
  await expectError(service.get(`/webhooks/${hook.id}/deliveries`), 'NOT_FOUND')
  assert.equal(await service.database.all('SELECT id FROM deliveries'), [])
})

test('an unreadable secret fails the attempt', async ({ service, receiver, hook }) => {
  await service.database.write((transaction) => transaction.run("UPDATE webhooks SET secret = 'v1.AAAA' WHERE id = ?", [hook.id]))
  await expectData(service.patch(`/webhooks/${hook.id}`, { description: 'updated' }))
  const delivery = await expectData(service.post(`/webhooks/${hook.id}/test`))
  assert.is(delivery.status, 'failed')
  assert.match(delivery.error, /Cannot open the secret of/)
  assert.is(receiver.received.length, 0)
})

test.run()
