import { setImmediate as nextTurn } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDeadlineSignal, scaleTimeout, startDeadline } from '../../src/deadline.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('deadlines')

/** Stands still, as a stopped process or a sleeping machine. */
const standStill = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

test('a deadline passes once', async () => {
  let passed = 0
  const deadline = startDeadline(20, () => passed++)
  assert.is(deadline.hasPassed, false)
  await waitFor(() => deadline.hasPassed, { intervalMs: 1 })
  await waitFor(() => passed === 1, { intervalMs: 1 })
})

test('time in which the process stands still does not count', async () => {
  const deadline = startDeadline(100)
  const timeout = AbortSignal.timeout(100)
  for (let pause = 0; pause < 5; pause++) {
    standStill(200)
    await nextTurn()
  }
  assert.equal([deadline.hasPassed, timeout.aborted], [false, true])
  deadline.cancel()
})

test('a deadline can be restarted and cancelled', async () => {
  const [restarted, cancelled] = [startDeadline(50), startDeadline(10)]
  cancelled.cancel()
  for (let count = 0; count < 50; count++) {
    restarted.restart()
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  assert.equal([restarted.hasPassed, cancelled.hasPassed], [false, false])
  await waitFor(() => restarted.hasPassed, { intervalMs: 1 })
})

test('a signal aborts with a TimeoutError', async () => {
  const signal = createDeadlineSignal(10)
  await waitFor(() => signal.aborted, { intervalMs: 1 })
  assert.is(signal.reason.name, 'TimeoutError')
})

test('CADRE_TIMEOUT_FACTOR multiplies timeouts; other values are ignored', () => {
  const scale = (factor?: string) => scaleTimeout(1_000, { CADRE_TIMEOUT_FACTOR: factor })
  assert.equal([scale(), scale('3'), scale('0.5'), scale('0'), scale('-1'), scale('fast')], [1_000, 3_000, 500, 1_000, 1_000, 1_000])
})

test.run()
