import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ModelWorkerPool, type RunOptions } from '../../daemon/embedded-models/worker-pool.ts'
import type { CadreError } from '../../src/contract/errors.ts'
import { captureError } from '../embedding/capture-error.ts'
import { createTestLogger } from '../embedding/test-logger.ts'
import { waitFor } from '../harness/wait-for.ts'

const WORKER = fileURLToPath(new URL('scripted-worker.js', import.meta.url))

const test = suite('model worker pool')
const pools: ModelWorkerPool[] = []

function createPool({ size = 2, idleMs = 60_000, mode = 'normal' } = {}) {
  const logger = createTestLogger()
  let startCount = 0
  const pool = new ModelWorkerPool({
    size,
    idleMs,
    logger,
    start: () => {
      startCount++
      return fork(WORKER, [mode], { execArgv: [], serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    },
  })
  pools.push(pool)
  return { pool, logger, getStartCount: () => startCount }
}

const embed = (pool: ModelWorkerPool, texts: string[], options?: RunOptions) =>
  pool.run(
    texts.map((text) => ({ text })),
    options,
  ) as Promise<Float32Array[]>

test.after.each(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true // no such process
  }
}

const repeat = (text: string, length: number) => Array.from({ length }, () => text)

test('workers start on demand: one for 16 texts or 4 tasks of queries', async () => {
  const { pool, getStartCount } = createPool({ size: 5 })
  assert.is(getStartCount(), 0)
  assert.equal(await embed(pool, []), [])
  assert.is(getStartCount(), 0)
  await embed(pool, repeat('a', 16))
  assert.is(getStartCount(), 1)
  await embed(pool, repeat('a', 17))
  assert.is(getStartCount(), 2)
  await embed(pool, repeat('a', 12), { priority: 'query' })
  assert.is(getStartCount(), 3)
  await Promise.all([embed(pool, repeat('sleep 5', 33)), embed(pool, ['a'], { priority: 'query' })])
  assert.is(getStartCount(), 4)
  await embed(pool, repeat('sleep 5', 200))
  assert.is(getStartCount(), 5)
})

test('all workers share the texts, and every text has one vector', async () => {
  const { pool } = createPool()
  const vectors = await embed(
    pool,
    Array.from({ length: 40 }, () => 'sleep 10'),
  )
  const answers = new Map<number, number[]>()
  for (const [pid = 0, count = 0] of vectors) answers.set(pid, [...(answers.get(pid) ?? []), count])
  assert.is(answers.size, 2)
  // The vectors of each worker are in the order of the texts.
  for (const counts of answers.values())
    assert.equal(
      counts,
      [...counts].sort((a, b) => a - b),
    )
  assert.is(vectors.length, 40)
})

test('a query is embedded before pending texts', async () => {
  const { pool } = createPool({ size: 1 })
  await embed(pool, ['a'])
  const indexing = embed(
    pool,
    Array.from({ length: 30 }, () => 'sleep 20'),
  )
  await sleep(50)
  const answered = 1 + 30 - pool.pendingCount
  const [query] = await embed(pool, ['query'], { priority: 'query' })
  const before = (query?.[1] ?? 0) - answered
  // The texts that the worker had, and one that it may have finished meanwhile.
  assert.ok(before <= 4, `${before} texts were embedded before the query`)
  await indexing
})

test('concurrent calls receive their own vectors', async () => {
  const { pool } = createPool()
  const calls = Array.from({ length: 50 }, (_, length) =>
    embed(
      pool,
      Array.from({ length }, () => 'text'),
      { priority: length % 2 ? 'query' : 'index' },
    ),
  )
  assert.equal(
    (await Promise.all(calls)).map((vectors) => vectors.length),
    Array.from({ length: 50 }, (_, length) => length),
  )
  assert.is(pool.pendingCount, 0)
})

test('an aborted call fails immediately, and its texts are not embedded', async () => {
  const { pool } = createPool({ size: 1 })
  await embed(pool, ['a'])
  const controller = new AbortController()
  const call = embed(
    pool,
    Array.from({ length: 200 }, () => 'sleep 20'),
    { signal: controller.signal },
  )
  await sleep(30)
  const answered = 1 + 200 - pool.pendingCount
  controller.abort(new Error('never mind'))
  assert.is((await captureError(call)).message, 'never mind')
  assert.is(pool.pendingCount, 0)
  const [next] = await embed(pool, ['b'])
  assert.ok((next?.[1] ?? 0) - answered <= 4, `${next?.[1]} texts were embedded, ${answered} of them before the abort`)
  assert.is((await captureError(embed(pool, ['c'], { signal: controller.signal }))).message, 'never mind')
})

test('a worker that crashes fails the calls whose texts it had, and is replaced', async () => {
  const { pool, logger, getStartCount } = createPool({ size: 1 })
  const crashed = captureError(embed(pool, ['crash']))
  const others = embed(pool, ['a', 'b', 'c'])
  const last = embed(pool, ['d'])
  const error = await crashed
  assert.is(error.code, 'INTERNAL')
  assert.match(error.message, /lost: it exited with 7/)
  // Texts that the worker had received already fail too; later calls work.
  await others.catch((also: CadreError) => assert.match(also.message, /lost/))
  assert.is((await last).length, 1)
  assert.is((await embed(pool, ['a', 'b', 'c'])).length, 3)
  assert.is(getStartCount(), 2)
  assert.match(logger.entries[0]?.message ?? '', /lost/)
})

test('a crash does not affect other workers', async () => {
  const { pool } = createPool()
  const countWorkers = async () => new Set((await embed(pool, repeat('sleep 5', 17))).map(([pid]) => pid)).size
  await waitFor(async () => (await countWorkers()) === 2)
  const steady = embed(pool, ['sleep 100'])
  await captureError(embed(pool, ['crash']))
  assert.is((await steady).length, 1)
})

test('a text that the model rejects fails only its own call', async () => {
  const { pool, getStartCount } = createPool({ size: 1 })
  const [refused, fine] = await Promise.all([captureError(embed(pool, ['a', 'refuse', 'b'])), embed(pool, ['c'])])
  assert.match(refused.message, /this text is refused/)
  assert.is(fine.length, 1)
  assert.is(getStartCount(), 1)
})

for (const [mode, message] of [
  ['broken', /cannot be loaded: no such model/],
  ['dies', /cannot be loaded: it exited with 3/],
] as const) {
  test(`workers that cannot start (${mode}) fail every call and are not restarted forever`, async () => {
    const { pool, getStartCount } = createPool({ mode })
    const errors = await Promise.all([captureError(embed(pool, ['a', 'b', 'c'])), captureError(embed(pool, ['d'], { priority: 'query' }))])
    for (const error of errors) {
      assert.is(error.code, 'UNAVAILABLE')
      assert.match(error.message, message)
    }
    assert.is(getStartCount(), 2)
    await captureError(embed(pool, ['a']))
    assert.is(getStartCount(), 3)
  })
}

test('idle workers end, and start again for the next text', async () => {
  const { pool, getStartCount } = createPool({ idleMs: 100 })
  const pids = (await embed(pool, repeat('sleep 5', 17))).map(([pid = 0]) => pid)
  assert.is(pool.workerCount, 2)
  for (let attempt = 0; attempt < 100 && !pids.every(isGone); attempt++) await sleep(50)
  assert.is(pool.workerCount, 0)
  assert.ok(pids.every(isGone), 'the workers did not end within 5 s')
  await embed(pool, ['a'])
  assert.ok(getStartCount() > 2)
})

test('closing fails pending calls and ends the workers, also while they embed', async () => {
  const { pool } = createPool()
  const pids = (await embed(pool, repeat('sleep 5', 17))).map(([pid = 0]) => pid)
  const waiting = captureError(embed(pool, ['sleep 5000', 'sleep 5000', 'sleep 5000']))
  await sleep(50)
  await pool.close()
  assert.is((await waiting).code, 'UNAVAILABLE')
  assert.ok(pids.every(isGone))
  assert.is((await captureError(embed(pool, ['a']))).code, 'UNAVAILABLE')
})

test.run()
