import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getNextAttempt } from '../../daemon/webhooks/retry-schedule.ts'
import { Resources } from '../harness/resources.ts'
import { isOnServer } from '../harness/sqld/test-database.ts'
import { type Json, TestServer, type TestServerOptions } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { FakeClock } from './fake-clock.ts'
import { Receiver } from './receiver.ts'
import { completeConversation, createWebhook, listDeliveries, waitForDelivery } from './webhook-fixture.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Delays of the specification, from each failure to the next attempt. */
const DELAYS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]
const TIMES = [0, ...DELAYS].map((_, attempts) => DELAYS.slice(0, attempts).reduce((sum, delay) => sum + delay, 0))

const schedule = suite('webhooks: retry schedule')
/** On a server, the event stream reads new events every second of this clock, so that days would be simulated second by second. */
const test = isOnServer ? schedule.skip : schedule

interface ScheduleFixture {
  clock: FakeClock
  receiver: Receiver
  service: TestServer
  hook: Json
  restart(): Promise<void>
}

async function withFixture(
  work: (fixture: ScheduleFixture) => Promise<void>,
  timing: TestServerOptions = { random: () => 0 },
): Promise<void> {
  const clock = new FakeClock()
  const receiver = await Receiver.start(undefined, () => clock.now())
  const service = await TestServer.start({ clock, ...timing })
  const hook = await createWebhook(service, receiver.url)
  const fixture: ScheduleFixture = {
    clock,
    receiver,
    service,
    hook,
    async restart() {
      fixture.service = await TestServer.start({ clock, ...timing, home: await fixture.service.stop() })
    },
  }
  try {
    await work(fixture)
  } finally {
    await fixture.service.close()
    await receiver.close()
  }
}

/** Waits for four timers: the next attempt, the daily cleanup, the check for idle conversations and daily backups. */
const TIMER_COUNT = 4

/** Advances from timer to timer until this many attempts were made. */
async function advanceUntil({ clock, receiver }: ScheduleFixture, attempts: number): Promise<void> {
  while (receiver.received.length < attempts) {
    const isReady = () => clock.timerCount >= TIMER_COUNT || receiver.received.length >= attempts
    await waitFor(isReady, { description: `attempt ${attempts}`, intervalMs: 1 })
    if (receiver.received.length < attempts) clock.advance()
  }
}

test('a receiver that is down for three days gets the event on schedule, across two restarts', async () => {
  await withFixture(async (fixture) => {
    const { clock, receiver } = fixture
    const begun = clock.now()
    receiver.answer = (reply) => reply.writeHead(clock.now() - begun < 3 * DAY ? 503 : 200).end()
    await completeConversation(fixture.service)
    await advanceUntil(fixture, 4)
    await clock.waitForTimers(TIMER_COUNT)
    await fixture.restart()
    await advanceUntil(fixture, 8)
    await clock.waitForTimers(TIMER_COUNT)
    await fixture.restart()
    await advanceUntil(fixture, 10)
    assert.equal(
      receiver.received.map(({ at }) => at - begun),
      TIMES,
    )
    assert.is(new Set(receiver.received.map(({ id }) => id)).size, 1)
    assert.is(new Set(receiver.received.map(({ body }) => body)).size, 1)
    assert.equal(
      receiver.received.map(({ headers }) => Number(headers['webhook-timestamp'])),
      TIMES.map((time) => Math.floor((begun + time) / 1000)),
    )
    assert.is(new Set(receiver.received.map(({ headers }) => headers['webhook-signature'])).size, 10, 'every attempt has its own signature')
    const delivery = await waitForDelivery(fixture.service, fixture.hook, 'delivered')
    assert.is((await listDeliveries(fixture.service, fixture.hook)).length, 1)
    assert.equal([delivery.attempts, delivery.response_status, delivery.next_attempt_at, delivery.error], [10, 200, null, null])
    assert.is(delivery.event_id, receiver.received[0]?.id)
    assert.equal(
      delivery.history.map(({ at, response_status }: Json) => [Date.parse(at) - begun, response_status]),
      TIMES.map((time, index) => [time, index === 9 ? 200 : 503]),
    )
  })
})

test('a delivery that was scheduled before the clock was set back is sent', async () => {
  await withFixture(async (fixture) => {
    const { clock, receiver } = fixture
    receiver.answer = (reply, _, count) => reply.writeHead(count < 2 ? 500 : 200).end()
    await completeConversation(fixture.service)
    await receiver.count(1)
    await clock.waitForTimers(TIMER_COUNT)
    const home = await fixture.service.stop()
    clock.skip(-400 * DAY)
    fixture.service = await TestServer.start({ clock, random: () => 0, home })
    await receiver.count(2)
    await waitForDelivery(fixture.service, fixture.hook, 'delivered')
  })
})

test('a delivery fails after the last attempt', async () => {
  await withFixture(async (fixture) => {
    const { receiver } = fixture
    receiver.answer = (reply) => reply.writeHead(500).end('not today')
    await completeConversation(fixture.service)
    await advanceUntil(fixture, 10)
    const delivery = await waitForDelivery(fixture.service, fixture.hook, 'failed')
    assert.equal(
      [delivery.attempts, delivery.response_status, delivery.response_body, delivery.next_attempt_at, delivery.error],
      [10, 500, 'not today', null, 'The receiver responded with 500.'],
    )
    assert.match(fixture.service.log, /will not be retried/)
  })
})

test('a delivery that became due while the daemon was stopped is sent at the start', async () => {
  await withFixture(async (fixture) => {
    const { clock, receiver } = fixture
    receiver.answer = (reply, _, count) => reply.writeHead(count < 3 ? 500 : 200).end()
    const begun = clock.now()
    await completeConversation(fixture.service)
    await advanceUntil(fixture, 2)
    await clock.waitForTimers(TIMER_COUNT)
    const home = await fixture.service.stop()
    clock.skip(2 * DAY)
    fixture.service = await TestServer.start({ clock, random: () => 0, home })
    await receiver.count(3)
    assert.equal(
      receiver.received.map(({ at }) => at - begun),
      [0, 5 * SECOND, 5 * SECOND + 2 * DAY],
    )
    await waitForDelivery(fixture.service, fixture.hook, 'delivered')
  })
})

test('an event from before the start of the dispatcher is delivered', async () => {
  await withFixture(async (fixture) => {
    const { receiver } = fixture
    // Stopped between the event and the first attempt, as by a kill: the event is stored but not sent.
    const home = await fixture.service.stop()
    fixture.service = await TestServer.start({ clock: fixture.clock, random: () => 0, home })
    await fixture.service.database.write(async (transaction) => {
      const at = new Date(fixture.clock.now()).toISOString()
      await transaction.run("INSERT INTO events (id, type, body, created_at) VALUES ('evt_1', 'conversation.completed', '{}', ?)", [at])
      await transaction.run(
        `INSERT INTO deliveries
           (id, webhook_id, event_id, event, status, attempts, step, next_attempt_at, history, created_at, updated_at)
         VALUES ('dlv_1', ?, 'evt_1', 'conversation.completed', 'pending', 0, 0, ?, '[]', ?, ?)`,
        [fixture.hook.id, at, at, at],
      )
    })
    await fixture.restart()
    const [received] = await receiver.count(1)
    assert.is(received?.id, 'evt_1')
  })
})

test('jitter extends a delay by up to 10 % and never shortens it', async () => {
  for (const random of [0, 0.25, 0.5, 0.999999]) {
    for (const [index, delay] of DELAYS.entries()) {
      const next = (getNextAttempt(index + 1, 1_000_000, random) as number) - 1_000_000
      assert.is(next, Math.round(delay * (1 + random / 10)))
      assert.ok(next >= delay && next <= delay * 1.1, `${next} of ${delay}`)
    }
  }
  assert.is(getNextAttempt(10, 0, 0), undefined)
  await withFixture(
    async (fixture) => {
      const { clock, receiver } = fixture
      receiver.answer = (reply) => reply.writeHead(500).end()
      const begun = clock.now()
      await completeConversation(fixture.service)
      await advanceUntil(fixture, 3)
      assert.equal(
        receiver.received.map(({ at }) => at - begun),
        [0, 5.25 * SECOND, 5.25 * SECOND + 5.25 * MINUTE],
      )
    },
    { random: () => 0.5 },
  )
})

test('deliveries and events are kept for 30 days', async () => {
  await withFixture(async (fixture) => {
    const { clock, service, hook } = fixture
    await completeConversation(service)
    await waitForDelivery(fixture.service, fixture.hook, 'delivered')
    /** Fires the timers of idle conversations, daily backups and the cleanup. */
    const advanceAll = () => {
      for (let count = 0; count < TIMER_COUNT - 1; count++) clock.advance()
    }
    clock.skip(29 * DAY)
    advanceAll()
    await new Resources(service).agent() // queued after the cleanup
    assert.is((await listDeliveries(service, hook)).length, 1)
    clock.skip(DAY + 1)
    advanceAll()
    await waitFor(async () => (await listDeliveries(service, hook)).length === 0, { intervalMs: 5 })
    await waitFor(async () => (await service.database.all('SELECT 1 FROM events')).length === 0, { intervalMs: 5 })
  })
})

schedule.run()
