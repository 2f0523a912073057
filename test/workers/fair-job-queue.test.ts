import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FairJobQueue } from '../../daemon/workers/fair-job-queue.ts'
import type { Priority } from '../../daemon/workers/worker-protocol.ts'

const test = suite('queue of jobs')
const create = (owner: string, count: number, priority: Priority = 'high') =>
  Array.from({ length: count }, (_, index) => ({ name: `${owner}${index + 1}`, owner, priority }))
/** Jobs of one request. */
const createRequest = (owner: string, size: number) => {
  const request = { size }
  return create(owner, size).map((job) => ({ ...job, request }))
}
const takeNames = (queue: FairJobQueue<ReturnType<typeof create>[number]>, count: number) =>
  Array.from({ length: count }, () => queue.take()?.name)

test('urgent jobs of somebody who asks rarely come before those of somebody who asks all the time', () => {
  const queue = new FairJobQueue<ReturnType<typeof create>[number]>()
  for (const job of create('flood', 20)) queue.add(job)
  assert.equal(takeNames(queue, 3), ['flood1', 'flood2', 'flood3'])
  for (const job of create('user', 2)) queue.add(job)
  for (const job of create('other', 2)) queue.add(job)
  assert.equal(takeNames(queue, 6), ['user1', 'other1', 'user2', 'other2', 'flood4', 'flood5'])
})

test('urgent requests of the same size end one after another, and a small one does not wait for them', () => {
  const queue = new FairJobQueue<ReturnType<typeof create>[number]>()
  for (const job of [...createRequest('a', 3), ...createRequest('b', 3), ...createRequest('c', 1)]) queue.add(job)
  assert.equal(takeNames(queue, 7), ['c1', 'a1', 'a2', 'a3', 'b1', 'b2', 'b3'])
})

test('a question comes before the many requests of somebody who asks all the time, also before one that has begun', () => {
  const queue = new FairJobQueue<ReturnType<typeof create>[number]>()
  for (let request = 0; request < 20; request++) for (const job of createRequest('flood', 10)) queue.add(job)
  takeNames(queue, 105)
  for (const job of createRequest('user', 10)) queue.add(job)
  assert.equal(
    takeNames(queue, 11),
    [...createRequest('user', 10), { name: 'flood6' }].map(({ name }) => name),
  )
})

test('earlier jobs are forgotten, so that nobody waits without end', () => {
  const queue = new FairJobQueue<ReturnType<typeof create>[number]>()
  for (const job of create('flood', 2_000)) queue.add(job)
  takeNames(queue, 1_000)
  for (const job of create('user', 5_000)) queue.add(job)
  const taken = takeNames(queue, 2_000)
  assert.ok(taken.filter((name) => name?.startsWith('flood')).length > 500)
})

test('what somebody asked before a moment in which nobody waited does not count', () => {
  const queue = new FairJobQueue<ReturnType<typeof create>[number]>()
  for (let request = 0; request < 3; request++) for (const job of createRequest('a', 2)) queue.add(job)
  takeNames(queue, 6)
  for (const job of [...createRequest('a', 2), ...createRequest('b', 2), ...createRequest('c', 2)]) queue.add(job)
  assert.equal(takeNames(queue, 6), ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'])
})

test('other jobs take turns', () => {
  const queue = new FairJobQueue<ReturnType<typeof create>[number]>()
  for (const job of create('a', 4, 'normal')) queue.add(job)
  assert.equal(takeNames(queue, 2), ['a1', 'a2'])
  for (const job of create('b', 2, 'normal')) queue.add(job)
  assert.equal(takeNames(queue, 4), ['a3', 'b1', 'a4', 'b2'])
})

test.run()
