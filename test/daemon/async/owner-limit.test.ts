import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { OwnerLimit } from '../../../daemon/async/owner-limit.ts'

const test = suite('limit of an owner')
const tick = () => new Promise((resolve) => setImmediate(resolve))

/** Starts work that ends when it is told to. */
function createWork() {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      started.push(name)
      ends.set(name, () => resolve(name))
    })
  return { started, work, end: (name: string) => ends.get(name)?.() }
}

test('the work of an owner waits for its own work only', async () => {
  const { started, work, end } = createWork()
  const limit = new OwnerLimit({ alone: 2, shared: 2 })
  const results = ['a1', 'a2', 'a3', 'a4'].map((name) => limit.run('a', work(name)))
  results.push(limit.run('b', work('b1')), limit.run(undefined, work('nobody')))
  await tick()
  assert.equal(started, ['nobody', 'a1', 'a2', 'b1'])
  end('a2')
  await tick()
  assert.equal(started.slice(4), ['a3'])
  for (const name of ['a1', 'a3', 'b1', 'nobody']) end(name)
  await tick()
  end('a4')
  assert.equal(await Promise.all(results), ['a1', 'a2', 'a3', 'a4', 'b1', 'nobody'])
  assert.is(limit.ownerCount, 0)
})

test('less work of an owner runs while others are busy', async () => {
  const { started, work, end } = createWork()
  let areOthersBusy = false
  const limit = new OwnerLimit({ alone: 3, shared: 1, areOthersBusy: () => areOthersBusy })
  const results = ['a1', 'a2'].map((name) => limit.run('a', work(name)))
  results.push(limit.run('b', work('b1')))
  results.push(...['a3', 'a4', 'a5', 'a6'].map((name) => limit.run('a', work(name))))
  const endAndWait = async (...names: string[]) => {
    for (const name of names) end(name)
    await tick()
    return started.splice(0)
  }
  assert.equal(await endAndWait(), ['a1', 'a2', 'b1'])
  assert.equal(await endAndWait('a1'), [])
  assert.equal(await endAndWait('a2'), ['a3'])
  areOthersBusy = true
  assert.equal(await endAndWait('b1', 'a3'), ['a4'])
  areOthersBusy = false
  assert.equal(await endAndWait('a4'), ['a5', 'a6'])
  await endAndWait('a5', 'a6')
  assert.is((await Promise.all(results)).length, 7)
})

test('work that fails makes room', async () => {
  const limit = new OwnerLimit({ alone: 1, shared: 1 })
  const failed = limit.run('a', () => Promise.reject(new Error('no')))
  const next = limit.run('a', async () => 'yes')
  await failed.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'no'),
  )
  assert.is(await next, 'yes')
  assert.is(limit.ownerCount, 0)
})

test.run()
