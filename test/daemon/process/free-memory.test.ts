import { setImmediate as nextTick } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freeMemory } from '../../../daemon/process/free-memory.ts'

const test = suite('free memory')

test('what is no longer used is freed at once, also the second time', async () => {
  for (let round = 0; round < 2; round++) {
    const unused = new WeakRef(new Uint8Array(1024 * 1024))
    await nextTick()
    freeMemory()
    assert.is(unused.deref(), undefined)
  }
})

test.run()
