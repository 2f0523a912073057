import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Semaphore } from '../../../daemon/async/semaphore.ts'

const test = suite('turn taking')

test('a semaphore limits concurrency and queues callers in order', async () => {
  const { acquire: turn } = new Semaphore(2)
  const seen: string[] = []
  const come = async (name: string) => {
    const end = await turn()
    seen.push(name)
    return end
  }
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(come) as [
    ReturnType<typeof come>,
    ReturnType<typeof come>,
    ReturnType<typeof come>,
    ReturnType<typeof come>,
  ]
  const ends = [await a, await b]
  assert.equal(seen, ['a', 'b'])
  ends[1]?.()
  ;(await c)()
  ;(await d)()
  assert.equal(seen, ['a', 'b', 'c', 'd'])
  ends[0]?.()
  await Promise.all([come('e'), come('f')])
  assert.is(seen.length, 6)
})

test('releasing a permit twice frees it once', async () => {
  const { acquire: turn } = new Semaphore(1)
  const end = await turn()
  end()
  end()
  await turn()
  let third = false
  void turn().then(() => {
    third = true
  })
  await setImmediate()
  assert.not(third)
})

test.run()
