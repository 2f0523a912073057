import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDeferred } from '../../../daemon/async/deferred.ts'
import { SyncPacer } from '../../../daemon/knowledge/sync/sync-pacer.ts'
import { ManualClock } from '../../harness/clocks/manual-clock.ts'

const test = suite('sync pacer')

/** Counts the syncs; `end` ends the current one. */
function startPacer() {
  const clock = new ManualClock()
  let syncs = 0
  let current = createDeferred<void>()
  const pacer = new SyncPacer(() => {
    syncs++
    current = createDeferred()
    return current.promise
  }, clock)
  const end = async (milliseconds: number) => {
    clock.advance(milliseconds)
    current.resolve()
    await new Promise(setImmediate)
  }
  return { pacer, clock, end, countSyncs: () => syncs }
}

test('requests during a sync cause one more, at once if the sync was short', async () => {
  const { pacer, end, countSyncs } = startPacer()
  pacer.request()
  pacer.request()
  pacer.request()
  assert.is(countSyncs(), 1)
  await end(500)
  assert.is(countSyncs(), 2)
  await end(500)
  assert.is(countSyncs(), 2)
})

test('after a long sync, the next one waits three times as long, but at most half a minute', async () => {
  const { pacer, clock, end, countSyncs } = startPacer()
  pacer.request()
  await end(4_000)
  pacer.request()
  clock.advance(11_000)
  assert.is(countSyncs(), 1)
  clock.advance(1_000)
  assert.is(countSyncs(), 2)
  await end(3_600_000)
  pacer.request()
  clock.advance(30_000)
  assert.is(countSyncs(), 3)
})

test('a closed pacer starts nothing', async () => {
  const { pacer, clock, end, countSyncs } = startPacer()
  pacer.request()
  pacer.request()
  pacer.close()
  await end(5_000)
  clock.advance(60_000)
  pacer.request()
  assert.is(countSyncs(), 1)
})

test.run()
