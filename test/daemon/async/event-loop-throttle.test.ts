import { setImmediate as turnOver } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Breather } from '../../../daemon/async/event-loop-throttle.ts'

const test = suite('breather')

function busy(milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

test('whoever comes alone does not wait', async () => {
  const breather = new Breather()
  for (let count = 0; count < 3; count++) {
    assert.is(breather.pause(), undefined)
    await turnOver()
  }
})

test('a crowd is worked off in order, over as many turns as it takes', async () => {
  const breather = new Breather()
  const order: number[] = []
  let turns = 0
  let going = true
  const counting = (async () => {
    while (going) {
      await turnOver()
      turns++
    }
  })()
  await Promise.all(
    Array.from({ length: 30 }, async (_, at) => {
      await breather.pause()
      for (let step = 0; step < 20; step++) await null
      busy(3)
      order.push(at)
    }),
  )
  going = false
  await counting
  assert.equal(
    order,
    Array.from({ length: 30 }, (_, at) => at),
  )
  assert.ok(turns >= 8, `${turns} turns`)
})

test('work that waits for something else does not hold up the others', async () => {
  const breather = new Breather()
  breather.pause()
  busy(10)
  let arrive = () => {}
  const something = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const slow = Promise.resolve(breather.pause()).then(() => something)
  await breather.pause()
  arrive()
  await slow
})

test.run()
