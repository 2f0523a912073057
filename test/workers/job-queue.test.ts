import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { JobQueue } from '../../daemon/workers/job-queue.ts'
import type { Priority } from '../../daemon/workers/worker-protocol.ts'

const test = suite('queue of jobs')
const create = (owner: string, count: number, priority: Priority = 'high') =>
  Array.from({ length: count }, (_, index) => ({ name: `${owner}${index + 1}`, owner, priority }))
const takeNames = (queue: JobQueue<ReturnType<typeof create>[number]>, count: number) =>
  Array.from({ length: count }, () => queue.take()?.name)

test('urgent jobs of somebody who asks rarely come before those of somebody who asks all the time', () => {
  const queue = new JobQueue<ReturnType<typeof create>[number]>()
  for (const job of create('flood', 20)) queue.add(job)
  assert.equal(takeNames(queue, 3), ['flood1', 'flood2', 'flood3'])
  for (const job of create('user', 2)) queue.add(job)
  for (const job of create('other', 2)) queue.add(job)
  assert.equal(takeNames(queue, 6), ['user1', 'other1', 'user2', 'other2', 'flood4', 'flood5'])
})

test('earlier jobs are forgotten, so that nobody waits without end', () => {
  const queue = new JobQueue<ReturnType<typeof create>[number]>()
  for (const job of create('flood', 2_000)) queue.add(job)
  takeNames(queue, 1_000)
  for (const job of create('user', 5_000)) queue.add(job)
  const taken = takeNames(queue, 2_000)
  assert.ok(taken.filter((name) => name?.startsWith('flood')).length > 500)
})

test('other jobs take turns', () => {
  const queue = new JobQueue<ReturnType<typeof create>[number]>()
  for (const job of create('a', 4, 'normal')) queue.add(job)
  assert.equal(takeNames(queue, 2), ['a1', 'a2'])
  for (const job of create('b', 2, 'normal')) queue.add(job)
  assert.equal(takeNames(queue, 4), ['a3', 'b1', 'a4', 'b2'])
})

test.run()
