import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ReplyEventLog } from '../../../daemon/conversations/reply/reply-event-log.ts'
import type { ReplyEvent } from '../../../src/contract/reply-events.ts'

const test = suite('event log')
const nobody = () => {}
const delta = (log: ReplyEventLog, text: string) => log.append('message_delta', { text })
const readText = (event: ReplyEvent) => (event.event === 'message_delta' ? event.data.text : event.event)

async function read(follower: AsyncIterable<ReplyEvent>): Promise<string[]> {
  const texts: string[] = []
  for await (const event of follower) texts.push(`${event.id} ${readText(event)}`)
  return texts
}

test('every follower gets every event, whenever it starts', async () => {
  const log = new ReplyEventLog()
  const early = read(log.follow(0, nobody))
  delta(log, 'a')
  await null
  const late = read(log.follow(0, nobody))
  delta(log, 'b')
  const after = read(log.follow(1, nobody))
  log.end()
  const afterwards = read(log.follow(0, nobody))
  assert.equal(await Promise.all([early, late, after, afterwards]), [['1 a', '2 b'], ['1 a', '2 b'], ['2 b'], ['1 a', '2 b']])
})

test('a follower that starts after a future event id gets new events', async () => {
  const log = new ReplyEventLog()
  delta(log, 'a')
  const ahead = read(log.follow(9, nobody))
  delta(log, 'b')
  log.end()
  assert.equal(await ahead, ['2 b'])
})

test('leaving is reported once and immediately, also while waiting for an event', async () => {
  const log = new ReplyEventLog()
  let left = 0
  const follower = log.follow(0, () => left++)
  const next = follower.next()
  assert.is(log.followerCount, 1)
  await follower.return?.()
  assert.equal([left, log.followerCount, (await next).done, (await follower.next()).done], [1, 0, true, true])
})

test('the writer waits while all followers are too far behind', async () => {
  const log = new ReplyEventLog()
  assert.is(log.waitForFollowers(), undefined, 'nobody follows')
  const [slow, fast] = [log.follow(0, nobody), log.follow(0, nobody)]
  for (let count = 0; count < 3; count++) delta(log, 'x'.repeat(25_000))
  const room = log.waitForFollowers()
  assert.ok(room)
  await fast.next()
  await room
  assert.is(log.waitForFollowers(), undefined)
  delta(log, 'x'.repeat(50_000))
  const again = log.waitForFollowers()
  assert.ok(again)
  await fast.return?.()
  assert.ok(log.waitForFollowers(), 'the slow follower is still behind')
  await slow.return?.()
  await again
})

test.run()
