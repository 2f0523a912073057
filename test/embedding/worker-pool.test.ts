import { fork } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EmbeddingWorkerPool } from '../../daemon/embedding/worker-pool.ts'
import type { CadreError } from '../../src/contract/errors.ts'
import { captureError } from './capture-error.ts'
import { createTestLogger } from './test-logger.ts'

const WORKER = fileURLToPath(new URL('scripted-worker.js', import.meta.url))

const test = suite('embedding pool')
const pools: EmbeddingWorkerPool[] = []

function pool({ size = 2, idleMs = 60_000, manner = 'well' } = {}) {
  const logger = createTestLogger()
  let started = 0
  const made = new EmbeddingWorkerPool({
    size,
    idleMs,
    logger,
    start: () => {
      started++
      return fork(WORKER, [manner], { execArgv: [], serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    },
  })
  pools.push(made)
  return { pool: made, logger, started: () => started }
}

test.after.each(async () => {
  await Promise.all(pools.splice(0).map((one) => one.close()))
})

const gone = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    // No such process.
    return true
  }
}

test('nothing is started before there is work, and no more than the work deserves', async () => {
  const { pool: one, started } = pool({ size: 4 })
  assert.is(started(), 0)
  assert.equal(await one.embed([]), [])
  assert.is(started(), 0)
  await one.embed(['a'])
  assert.is(started(), 1)
  await one.embed(Array.from({ length: 40 }, () => 'sleep 5'))
  assert.is(started(), 4)
})

test('all workers take part, and every text gets one vector', async () => {
  const { pool: one } = pool()
  const vectors = await one.embed(Array.from({ length: 40 }, () => 'sleep 10'))
  const answers = new Map<number, number[]>()
  for (const [pid = 0, count = 0] of vectors) answers.set(pid, [...(answers.get(pid) ?? []), count])
  assert.is(answers.size, 2)
  // In the order of the texts, each worker's own answers come one after the other.
  for (const counts of answers.values())
    assert.equal(
      counts,
      [...counts].sort((a, b) => a - b),
    )
  assert.is(vectors.length, 40)
})

test('a query goes before everything that waits to be indexed', async () => {
  const { pool: one } = pool({ size: 1 })
  await one.embed(['a'])
  const indexing = one.embed(Array.from({ length: 30 }, () => 'sleep 20'))
  await wait(50)
  const answered = 1 + 30 - one.pendingCount
  const [query] = await one.embed(['query'], { priority: 'query' })
  const before = (query?.[1] ?? 0) - answered
  // Those the worker had, and one it may have finished before this process heard of it.
  assert.ok(before <= 4, `${before} texts went before the query`)
  await indexing
})

test('of many calls at once each gets its own answers', async () => {
  const { pool: one } = pool()
  const calls = Array.from({ length: 50 }, (_, length) =>
    one.embed(
      Array.from({ length }, () => 'text'),
      { priority: length % 2 ? 'query' : 'index' },
    ),
  )
  assert.equal(
    (await Promise.all(calls)).map((vectors) => vectors.length),
    Array.from({ length: 50 }, (_, length) => length),
  )
  assert.is(one.pendingCount, 0)
})

test('an aborted call fails at once, and its texts are not worked on', async () => {
  const { pool: one } = pool({ size: 1 })
  await one.embed(['a'])
  const controller = new AbortController()
  const call = one.embed(
    Array.from({ length: 200 }, () => 'sleep 20'),
    { signal: controller.signal },
  )
  await wait(30)
  const answered = 1 + 200 - one.pendingCount
  controller.abort(new Error('never mind'))
  assert.is((await captureError(call)).message, 'never mind')
  assert.is(one.pendingCount, 0)
  const [next] = await one.embed(['b'])
  assert.ok((next?.[1] ?? 0) - answered <= 4, `${next?.[1]} texts were worked on, of which ${answered} before the abort`)
  assert.is((await captureError(one.embed(['c'], { signal: controller.signal }))).message, 'never mind')
})

test('a worker that crashes fails the call whose text it had, and another takes its place', async () => {
  const { pool: one, logger, started } = pool({ size: 1 })
  const crashed = captureError(one.embed(['crash']))
  const others = one.embed(['a', 'b', 'c'])
  const last = one.embed(['d'])
  const error = await crashed
  assert.is(error.code, 'INTERNAL')
  assert.match(error.message, /lost: it exited with 7/)
  // Those right behind it were handed over already and fail with it; whoever asks again is served.
  await others.catch((also: CadreError) => assert.match(also.message, /lost/))
  assert.is((await last).length, 1)
  assert.is((await one.embed(['a', 'b', 'c'])).length, 3)
  assert.is(started(), 2)
  assert.match(logger.entries[0]?.message ?? '', /lost/)
})

test('a crash does not touch what other workers have', async () => {
  const { pool: one } = pool()
  await one.embed(['sleep 50', 'sleep 50'])
  const steady = one.embed(['sleep 100'])
  await captureError(one.embed(['crash']))
  assert.is((await steady).length, 1)
})

test('a text the model refuses fails its own call and no other', async () => {
  const { pool: one, started } = pool({ size: 1 })
  const [refused, fine] = await Promise.all([captureError(one.embed(['a', 'refuse', 'b'])), one.embed(['c'])])
  assert.match(refused.message, /this text is refused/)
  assert.is(fine.length, 1)
  assert.is(started(), 1)
})

for (const [manner, words] of [
  ['broken', /cannot be loaded: no such model/],
  ['dies', /cannot be loaded: it exited with 3/],
] as const) {
  test(`workers that never come up (${manner}) fail every call instead of being started for ever`, async () => {
    const { pool: one, started } = pool({ manner })
    const errors = await Promise.all([captureError(one.embed(['a', 'b', 'c'])), captureError(one.embed(['d'], { priority: 'query' }))])
    for (const error of errors) {
      assert.is(error.code, 'UNAVAILABLE')
      assert.match(error.message, words)
    }
    assert.is(started(), 2)
    await captureError(one.embed(['a']))
    assert.is(started(), 3)
  })
}

test('workers without work end, and are there again for the next text', async () => {
  const { pool: one, started } = pool({ idleMs: 100 })
  const pids = (await one.embed(['sleep 20', 'sleep 20', 'sleep 20', 'sleep 20'])).map(([pid = 0]) => pid)
  assert.ok(one.workerCount > 0)
  for (let look = 0; look < 100 && !pids.every(gone); look++) await wait(50)
  assert.is(one.workerCount, 0)
  assert.ok(pids.every(gone))
  await one.embed(['a'])
  assert.ok(started() > 2)
})

test('closing fails what waits and ends the workers, also in the middle of a text', async () => {
  const { pool: one } = pool()
  const pids = (await one.embed(['sleep 20', 'sleep 20', 'sleep 20', 'sleep 20'])).map(([pid = 0]) => pid)
  const waiting = captureError(one.embed(['sleep 5000', 'sleep 5000', 'sleep 5000']))
  await wait(50)
  await one.close()
  assert.is((await waiting).code, 'UNAVAILABLE')
  assert.ok(pids.every(gone))
  assert.is((await captureError(one.embed(['a']))).code, 'UNAVAILABLE')
})

test.run()
