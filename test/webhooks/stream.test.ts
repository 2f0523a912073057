import { request } from 'node:http'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeEvents, type ServerEvent } from '../../src/sse.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { ADMIN_TOKEN, TestServer } from '../harness/test-server.ts'
import { completeConversation } from './webhook-fixture.ts'

const test = suite<{ service: TestServer; url: string }>('webhooks: event stream')

const listening = (service: TestServer): Promise<string> => service.app.server.listen({ host: '127.0.0.1', port: 0 })

test.before.each(
  reportFailure(async (context) => {
    context.service = await TestServer.start()
    context.url = await listening(context.service)
  }),
)
test.after.each(reportFailure(({ service }) => service.close()))

interface Stream {
  events: AsyncGenerator<ServerEvent>
  next(): Promise<ServerEvent>
  leave(): void
}

/** Follows the stream over a real connection, as the CLI does. */
async function follow(url: string, query = '', headers: Record<string, string> = {}): Promise<Stream> {
  const leaving = new AbortController()
  const sent = request(`${url}/api/events${query}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers },
    signal: leaving.signal,
  }).end()
  const answer = await new Promise<AsyncIterable<Uint8Array>>((resolve, reject) => sent.on('response', resolve).on('error', reject))
  const events = decodeEvents(answer)
  return { events, next: async () => (await events.next()).value as ServerEvent, leave: () => leaving.abort() }
}

const idsIn = (...events: ServerEvent[]) => events.map(({ data }) => JSON.parse(data).data.conversation_id)

test('events are streamed as they happen', async ({ service, url }) => {
  await completeConversation(service)
  const stream = await follow(url)
  assert.is((await stream.next()).event, 'ready')
  const conversation = await completeConversation(service)
  const event = await stream.next()
  assert.is(event.event, 'conversation.completed')
  const { id, type, timestamp, data } = JSON.parse(event.data)
  assert.match(id, /^evt_/)
  assert.equal([type, data.conversation_id], ['conversation.completed', conversation.id])
  assert.ok(!Number.isNaN(Date.parse(timestamp)))
  stream.leave()
})

test('a reconnecting client misses no event, also across a restart', async (context) => {
  const { service, url } = context
  const first = await follow(url)
  const ready = await first.next()
  const seen = await completeConversation(service)
  const event = await first.next()
  assert.equal(idsIn(event), [seen.id])
  first.leave()
  const missed = [await completeConversation(service), await completeConversation(service)]
  const second = await follow(url, `?after=${event.id}`)
  await second.next()
  assert.equal(
    idsIn(await second.next(), await second.next()),
    missed.map(({ id }) => id),
  )
  const again = await follow(url, '?after=0', { 'last-event-id': String(event.id) })
  assert.is((await again.next()).id, event.id, 'Last-Event-ID takes precedence')
  assert.equal(idsIn(await again.next()), [missed[0].id])
  again.leave()
  const ended = second.events.next()
  const restarted = await TestServer.start({ home: await service.stop() })
  assert.is((await ended).done, true)
  const third = await follow(await listening(restarted), `?after=${ready.id}`)
  await third.next()
  const late = await completeConversation(restarted)
  assert.equal(
    idsIn(await third.next(), await third.next(), await third.next(), await third.next()),
    [seen, ...missed, late].map(({ id }) => id),
  )
  third.leave()
  context.service = restarted
})

test('the stream is filtered by type', async ({ service, url }) => {
  const other = await follow(url, '?types=evaluation.finished,usage.threshold_exceeded&after=0')
  await other.next()
  await completeConversation(service)
  const all = await follow(url, '?after=0')
  await all.next()
  assert.is((await all.next()).event, 'conversation.completed')
  const answered = await Promise.race([other.next(), new Promise((resolve) => setTimeout(resolve, 100, 'nothing'))])
  assert.is(answered, 'nothing')
  other.leave()
  all.leave()
  await expectError(service.get('/events?types=conversation.complete'), 'VALIDATION_ERROR', {
    field: 'types',
    error: /conversation\.completed/,
  })
})

test('many missed events are streamed in order', async ({ service, url }) => {
  const type = 'conversation.completed'
  const timestamp = new Date().toISOString()
  const data = { agent_id: null, user_id: 'ada', title: null, messages: 0, completed_at: timestamp }
  await service.database.write(async (transaction) => {
    for (let n = 1; n <= 350; n++)
      await transaction.run('INSERT INTO events (id, type, body, created_at) VALUES (?, ?, ?, ?)', [
        `evt_${n}`,
        type,
        JSON.stringify({ type, timestamp, data: { ...data, conversation_id: String(n) } }),
        timestamp,
      ])
  })
  const stream = await follow(url, '?after=0')
  await stream.next()
  const numbers: number[] = []
  while (numbers.length < 350) numbers.push(...idsIn(await stream.next()).map(Number))
  assert.equal(
    numbers,
    Array.from({ length: 350 }, (_, index) => index + 1),
  )
  stream.leave()
})

test('the event stream requires the role admin', async ({ service }) => {
  for (const role of ['editor', 'member', 'viewer'] as const) await expectError(service.get('/events', { as: role }), 'FORBIDDEN')
  await expectError(service.get('/events', { as: null }), 'UNAUTHENTICATED')
  await expectData(service.get('/webhooks'))
})

test.run()
