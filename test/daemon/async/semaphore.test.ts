import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Semaphore } from '../../../daemon/async/semaphore.ts'

const test = suite('semaphore')

test('a semaphore limits concurrency and queues callers in order', async () => {
  const { acquire } = new Semaphore(2)
  const order: string[] = []
  const enter = async (name: string) => {
    const release = await acquire()
    order.push(name)
    return release
  }
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(enter) as [
    ReturnType<typeof enter>,
    ReturnType<typeof enter>,
    ReturnType<typeof enter>,
    ReturnType<typeof enter>,
  ]
  const releases = [await a, await b]
  assert.equal(order, ['a', 'b'])
  releases[1]?.()
  ;(await c)()
  ;(await d)()
  assert.equal(order, ['a', 'b', 'c', 'd'])
  releases[0]?.()
  await Promise.all([enter('e'), enter('f')])
  assert.is(order.length, 6)
})

test('releasing a permit twice frees it once', async () => {
  const { acquire } = new Semaphore(1)
  const release = await acquire()
  release()
  release()
  await acquire()
  let third = false
  void acquire().then(() => {
    third = true
  })
  await setImmediate()
  assert.not(third)
})

test.run()
