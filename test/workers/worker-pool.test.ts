import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startProcess, startThread } from '../../daemon/workers/start-worker.ts'
import { WorkerError } from '../../daemon/workers/worker-error.ts'
import { WorkerPool } from '../../daemon/workers/worker-pool.ts'
import type { JobOptions, WorkerPoolOptions } from '../../daemon/workers/worker-pool-options.ts'
import { createTestLogger } from '../embedding/test-logger.ts'
import { waitFor } from '../harness/wait-for.ts'
import { FakeClock } from '../webhooks/fake-clock.ts'
import type { ScriptedResult, ScriptedTask } from './scripted-worker.ts'

type Pool = WorkerPool<ScriptedTask, ScriptedResult, number>

const test = suite('worker pool')
const folder = mkdtempSync(join(tmpdir(), 'cadre-workers-'))
const source = new URL('scripted-worker.ts', import.meta.url)
const WORKER = { built: join(folder, 'worker.mjs'), source }
const IDENTIFY: ScriptedTask = { do: 'identify' }
const pools: Pool[] = []

test.before(async () => {
  await build({ entryPoints: [fileURLToPath(source)], outfile: WORKER.built, bundle: true, format: 'esm', platform: 'node' })
})
test.after.each(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})
test.after(() => rmSync(folder, { recursive: true }))

function createPool(options: Partial<WorkerPoolOptions> = {}) {
  const [clock, logger] = [new FakeClock(), createTestLogger()]
  const start = options.start ?? (() => startThread(WORKER, { name: 'test', memoryMb: 64 }))
  let startCount = 0
  const pool: Pool = new WorkerPool({
    ...{ name: 'scripted worker', size: 1, idleMs: 60_000, maxQueued: 1_000, clock, logger },
    ...options,
    start: () => {
      startCount++
      return start()
    },
  })
  pools.push(pool)
  return { pool, clock, logger, getStartCount: () => startCount }
}

async function getError(promise: Promise<unknown>): Promise<WorkerError> {
  const error = await promise.then(
    () => new Error('The job has a result.'),
    (reason: unknown) => reason,
  )
  return error as WorkerError
}

/** Blocks the only worker. Returns a function that opens the gate. */
async function blockWorker(pool: Pool): Promise<() => Promise<ScriptedResult>> {
  const gate = new Int32Array(new SharedArrayBuffer(8))
  const blocked = pool.run({ do: 'block', gate })
  await waitFor(() => Atomics.load(gate, 1) === 1, { description: 'the worker to block', intervalMs: 1 })
  return () => {
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
    return blocked
  }
}

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true // no such process
  }
}

const KINDS = {
  threads: () => startThread(WORKER, { name: 'test', memoryMb: 64 }),
  processes: () => startProcess(WORKER, { memoryMb: 300 }),
}

for (const [kind, start] of Object.entries(KINDS)) {
  test(`${kind}: concurrent jobs have their own results, and a worker does several`, async () => {
    const { pool, getStartCount } = createPool({ start, size: 2 })
    assert.is(getStartCount(), 0)
    const results = await Promise.all(Array.from({ length: 20 }, () => pool.run(IDENTIFY)))
    assert.is(new Set(results.map(({ worker, job }) => `${worker} ${job}`)).size, 20)
    assert.is(getStartCount(), 2)
    assert.is(pool.pendingCount, 0)
  })

  test(`${kind}: an error of a job is passed on, and its worker is kept`, async () => {
    const { pool, getStartCount } = createPool({ start })
    const [error, other] = await Promise.all([getError(pool.run({ do: 'fail', message: 'not this text' })), pool.run(IDENTIFY)])
    assert.instance(error, WorkerError)
    assert.equal([error.problem, error.detail], ['failed', 'not this text'])
    assert.is(other.job, 2)
    assert.is(getStartCount(), 1)
  })

  test(`${kind}: a worker that exits is replaced`, async () => {
    const { pool, getStartCount, logger } = createPool({ start })
    const [error, next] = await Promise.all([getError(pool.run({ do: 'exit', code: 7 })), pool.run(IDENTIFY)])
    assert.equal([error.problem, error.detail, error.code], ['lost', 'it exited with 7', 'INTERNAL'])
    assert.is(next.job, 1)
    assert.is(getStartCount(), 2)
    assert.match(logger.entries[0]?.message ?? '', /lost/)
  })

  test(`${kind}: a job that takes too long ends its worker`, async () => {
    const { pool, clock, getStartCount } = createPool({ start, timeoutMs: 60_000 })
    const error = getError(pool.run({ do: 'block' }))
    const next = pool.run(IDENTIFY)
    await clock.waitForTimers(1)
    clock.advance()
    assert.equal([(await error).problem, (await error).detail], ['timeout', '60000'])
    assert.is((await next).job, 1)
    assert.is(getStartCount(), 2)
  })

  test(`${kind}: a job that needs too much memory ends its worker`, async () => {
    const { pool, getStartCount } = createPool({ start })
    const error = await getError(pool.run({ do: 'allocate heap' }))
    assert.equal([error.problem, error.detail], ['memory', kind === 'threads' ? '64' : '300'])
    assert.is((await pool.run(IDENTIFY)).job, 1)
    assert.is(getStartCount(), 2)
  })

  test(`${kind}: an aborted job ends its worker, an aborted queued job does not`, async () => {
    const { pool, getStartCount } = createPool({ start })
    await pool.run(IDENTIFY)
    const [first, second] = [new AbortController(), new AbortController()]
    const running = getError(pool.run({ do: 'block' }, { signal: first.signal }))
    const queued = getError(pool.run(IDENTIFY, { signal: second.signal }))
    const next = pool.run(IDENTIFY)
    second.abort(new Error('second'))
    assert.is((await queued).message, 'second')
    assert.is(getStartCount(), 1)
    first.abort(new Error('first'))
    assert.is((await running).message, 'first')
    assert.is((await next).job, 1)
    assert.is(getStartCount(), 2)
    assert.is((await getError(pool.run(IDENTIFY, { signal: first.signal }))).message, 'first')
  })

  test(`${kind}: the next part is requested when the last one was handled; that time does not count`, async () => {
    const { pool, clock } = createPool({ start, timeoutMs: 60_000 })
    const parts: number[] = []
    let running = 0
    const onPart = async (part: number) => {
      assert.is(++running, 1)
      assert.is(clock.timerCount, 0)
      await new Promise((resolve) => setTimeout(resolve, 5))
      parts.push(part)
      running--
    }
    await pool.run({ do: 'send parts', count: 4 }, { onPart })
    assert.equal(parts, [0, 1, 2, 3])
    const failing = pool.run({ do: 'send parts', count: 4 }, { onPart: () => Promise.reject(new Error('disk')) })
    assert.is((await getError(failing)).message, 'disk')
    assert.is((await pool.run(IDENTIFY)).job, 1)
  })

  test(`${kind}: closing fails running and queued jobs`, async () => {
    const { pool } = createPool({ start })
    await pool.run(IDENTIFY)
    const errors = [getError(pool.run({ do: 'block' })), getError(pool.run(IDENTIFY))]
    await pool.close()
    errors.push(getError(pool.run(IDENTIFY)))
    for (const { problem, code } of await Promise.all(errors)) assert.equal([problem, code], ['closed', 'UNAVAILABLE'])
    assert.is(pool.workerCount, 0)
  })
}

test('the memory limit of a process includes byte arrays', async () => {
  const { pool } = createPool({ start: KINDS.processes })
  assert.is((await getError(pool.run({ do: 'allocate bytes' }))).problem, 'memory')
})

test('a process that exceeds its memory limit when its job is done gets no other job', async () => {
  const { pool } = createPool({ start: KINDS.processes })
  await pool.run({ do: 'grow', megabytes: 285 })
  // Most often it ends before the limit is checked.
  const exceeding = pool.run({ do: 'grow', megabytes: 302 }).catch(() => undefined)
  const next = pool.run({ do: 'block for', milliseconds: 200 })
  assert.is((await next).job, 1)
  await exceeding
})

test('a worker that ends before it is ready is started again', async () => {
  const starts = [() => startProcess(WORKER, { args: ['exit'] }), () => startProcess(WORKER, { args: ['\0'] }), KINDS.processes]
  const { pool, getStartCount } = createPool({ start: () => (starts.shift() ?? KINDS.processes)() })
  assert.is((await pool.run(IDENTIFY)).job, 1)
  assert.is(getStartCount(), 3)
})

for (const [how, message, starts] of [
  ['fail', 'The scripted worker cannot be loaded: no such model', 2],
  ['exit', 'The scripted worker cannot be loaded: it exited with 3', 6],
] as const) {
  test(`workers that cannot start (${how}) fail every job and are not restarted forever`, async () => {
    const { pool, getStartCount } = createPool({ size: 2, start: () => startProcess(WORKER, { args: [how] }) })
    const errors = await Promise.all([getError(pool.run(IDENTIFY)), getError(pool.run(IDENTIFY))])
    for (const error of errors) assert.equal([error.message, error.code], [message, 'UNAVAILABLE'])
    assert.is(getStartCount(), starts)
    await getError(pool.run(IDENTIFY))
    assert.is(getStartCount(), 1.5 * starts)
  })
}

test('jobs of a lost worker have a second attempt if the pool allows it', async () => {
  const { pool, getStartCount } = createPool({ attempts: 2, pipeline: { high: 2, normal: 2, low: 2 } })
  await pool.run(IDENTIFY)
  const [error] = await Promise.all([getError(pool.run({ do: 'exit', code: 7 })), pool.run(IDENTIFY)])
  assert.is(error.problem, 'lost')
  assert.is(getStartCount(), 3)
})

test('idle workers end, and start again for the next job', async () => {
  const { pool, clock } = createPool({ start: KINDS.processes })
  const pid = Number((await pool.run(IDENTIFY)).worker.split(' ')[0])
  assert.is(pool.workerCount, 1)
  clock.advance()
  assert.is(pool.workerCount, 0)
  await waitFor(() => isGone(pid))
  assert.is((await pool.run(IDENTIFY)).job, 1)
})

test('a worker ends after a job that wants it to', async () => {
  const { pool } = createPool()
  await pool.run(IDENTIFY, { endsWorker: true })
  assert.is(pool.workerCount, 0)
  assert.is((await pool.run(IDENTIFY)).job, 1)
})

test('more workers start only if there is enough work for each', async () => {
  const { pool, getStartCount } = createPool({ size: 3, jobsPerWorker: { high: 2, normal: 16, low: 16 } })
  const runMany = (count: number, options?: JobOptions<number>) =>
    Promise.all(Array.from({ length: count }, () => pool.run(IDENTIFY, options)))
  await runMany(16)
  assert.is(getStartCount(), 1)
  await runMany(4, { priority: 'high' })
  assert.is(getStartCount(), 2)
  await runMany(100)
  assert.is(getStartCount(), 3)
})

test('jobs with a higher priority run first, and owners take turns', async () => {
  const { pool } = createPool()
  const openGate = await blockWorker(pool)
  const order: string[] = []
  const queue = (name: string, options: JobOptions<number>) => pool.run(IDENTIFY, options).then(() => order.push(name))
  const jobs = [
    queue('low', { priority: 'low' }),
    ...['a1', 'a2', 'a3'].map((name) => queue(name, { owner: 'a' })),
    ...['b1', 'b2'].map((name) => queue(name, { owner: 'b' })),
    queue('high', { priority: 'high' }),
  ]
  await openGate()
  await Promise.all(jobs)
  assert.equal(order, ['high', 'a1', 'b1', 'a2', 'b2', 'a3', 'low'])
})

test('a worker does urgent jobs before others that it has received', async () => {
  const { pool } = createPool({ pipeline: { high: 4, normal: 2, low: 2 } })
  const openGate = await blockWorker(pool)
  const texts = Array.from({ length: 5 }, () => pool.run(IDENTIFY))
  const query = pool.run(IDENTIFY, { priority: 'high' })
  const { job } = await openGate()
  assert.is((await query).job, job + 1)
  await Promise.all(texts)
})

test('an aborted job of a pipeline does not end its worker', async () => {
  const { pool, getStartCount } = createPool({ pipeline: { high: 2, normal: 2, low: 2 } })
  const openGate = await blockWorker(pool)
  const controller = new AbortController()
  const aborted = getError(pool.run(IDENTIFY, { signal: controller.signal }))
  controller.abort(new Error('never mind'))
  assert.is((await aborted).message, 'never mind')
  const { job } = await openGate()
  assert.is((await pool.run(IDENTIFY)).job, job + 2)
  assert.is(getStartCount(), 1)
})

test('a job fails immediately if too many are waiting', async () => {
  const { pool } = createPool({ maxQueued: 2 })
  const openGate = await blockWorker(pool)
  const queued = [pool.run(IDENTIFY), pool.run(IDENTIFY)]
  const error = await getError(pool.run(IDENTIFY))
  assert.equal([error.problem, error.code], ['busy', 'UNAVAILABLE'])
  await openGate()
  await Promise.all(queued)
})

test.run()
