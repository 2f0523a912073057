import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MessageQueue } from '../../daemon/conversations/message-queue.ts'
import type { CadreError } from '../../src/contract/errors.ts'

const test = suite('turns')
const forever = new AbortController().signal
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: CadreError) => (error.name === 'CadreError' ? error.code : error.name),
  )

test('turns come in the order they were asked for, one at a time', async () => {
  const turns = new MessageQueue()
  const order: string[] = []
  const { end } = await turns.acquireTurn('a', false, forever)
  const later = ['one', 'two', 'three'].map(async (name) => {
    const { end: done } = await turns.acquireTurn('a', true, forever)
    order.push(`${name} begins`)
    await null
    order.push(`${name} ends`)
    done()
  })
  order.push('first ends')
  end()
  await Promise.all(later)
  assert.equal(order, ['first ends', 'one begins', 'one ends', 'two begins', 'two ends', 'three begins', 'three ends'])
  ;(await turns.acquireTurn('a', false, forever)).end()
})

test('another conversation has turns of its own', async () => {
  const turns = new MessageQueue()
  await turns.acquireTurn('a', false, forever)
  await turns.acquireTurn('b', false, forever)
  assert.is(await codeOf(turns.acquireTurn('a', false, forever)), 'CONFLICT')
})

test('a turn that is ended twice is not given to two', async () => {
  const turns = new MessageQueue()
  const { end } = await turns.acquireTurn('a', false, forever)
  const second = turns.acquireTurn('a', true, forever)
  let third = false
  void turns.acquireTurn('a', true, forever).then(() => {
    third = true
  })
  end()
  end()
  await second
  await null
  assert.not.ok(third)
})

test('whoever comes while a turn is being stored waits for that much, but not for a whole turn', async () => {
  const turns = new MessageQueue()
  const first = await turns.acquireTurn('a', false, forever)
  first.markStoring()
  const second = turns.acquireTurn('a', false, forever)
  assert.is(await codeOf(turns.acquireTurn('a', false, forever)), 'CONFLICT')
  first.end()
  await second
  first.markStoring()
  assert.is(await codeOf(turns.acquireTurn('a', false, forever)), 'CONFLICT')
})

test('few may wait, and whoever leaves gives up the place', async () => {
  const turns = new MessageQueue()
  const { end } = await turns.acquireTurn('a', false, forever)
  const leaving = new AbortController()
  const gone = codeOf(turns.acquireTurn('a', true, leaving.signal))
  const waiting = Array.from({ length: 19 }, () => turns.acquireTurn('a', true, forever))
  assert.is(await codeOf(turns.acquireTurn('a', true, forever)), 'CONFLICT')
  leaving.abort()
  assert.is(await gone, 'AbortError')
  waiting.push(turns.acquireTurn('a', true, forever))
  end()
  for (const turn of waiting) (await turn).end()
  ;(await turns.acquireTurn('a', false, forever)).end()
})

test('a stop sends away those who wait and those who come', async () => {
  const turns = new MessageQueue()
  await turns.acquireTurn('a', false, forever)
  const waiting = codeOf(turns.acquireTurn('a', true, forever))
  turns.close()
  assert.equal([await waiting, await codeOf(turns.acquireTurn('b', true, forever))], ['UNAVAILABLE', 'UNAVAILABLE'])
})

test.run()
