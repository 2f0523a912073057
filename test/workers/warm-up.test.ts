import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { WorkerHandle } from '../../daemon/workers/start-worker.ts'
import { WorkerPool } from '../../daemon/workers/worker-pool.ts'
import { createTestLogger } from '../embedding/test-logger.ts'
import { FakeClock } from '../webhooks/fake-clock.ts'

const test = suite('warm-up of a worker pool')

const WORKER: WorkerHandle = { memoryMb: undefined, send() {}, listen() {}, setReferenced() {}, async end() {} }

test('workers are started for jobs that are about to come, and end if none comes', async () => {
  const clock = new FakeClock()
  const options = { name: 'test worker', size: 2, idleMs: 60_000, maxQueued: 10, clock, logger: createTestLogger() }
  const pool = new WorkerPool({ ...options, start: () => WORKER })
  pool.warmUp(0)
  assert.is(pool.workerCount, 0)
  pool.warmUp(5)
  assert.is(pool.workerCount, 2, 'at most as many as the pool has')
  clock.advance()
  assert.is(pool.workerCount, 0)
  await pool.close()
  pool.warmUp(1)
  assert.is(pool.workerCount, 0, 'a closed pool starts none')
})

test.run()
