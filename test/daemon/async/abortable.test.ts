import { setImmediate as nextTurn } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { raceAbort } from '../../../daemon/async/abortable.ts'

const test = suite('work that can be aborted')
const reason = new Error('aborted')
const fail = async (): Promise<never> => {
  await nextTurn()
  throw reason
}

/** Returns what raceAbort throws. An unhandled rejection would end the daemon. */
async function abortDuring(work: Promise<never>, signal: AbortSignal, abort = () => {}) {
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', onUnhandled)
  try {
    const race = raceAbort(work, signal).catch((error: unknown) => error)
    abort()
    const thrown = await race
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    return { thrown, unhandled }
  } finally {
    process.off('unhandledRejection', onUnhandled)
  }
}

test('work that fails after an abort is not waited for', async () => {
  const controller = new AbortController()
  const { thrown, unhandled } = await abortDuring(fail(), controller.signal, () => controller.abort(reason))
  assert.is(thrown, reason)
  assert.equal(unhandled, [])
})

test('nor is work that was started after the abort', async () => {
  const { thrown, unhandled } = await abortDuring(fail(), AbortSignal.abort(reason))
  assert.is(thrown, reason)
  assert.equal(unhandled, [])
})

test('the result of the work is returned', async () => {
  assert.is(await raceAbort(Promise.resolve('done'), new AbortController().signal), 'done')
})

test.run()
