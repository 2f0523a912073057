import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MessageQueue } from '../../daemon/conversations/message-queue.ts'
import type { CadreError } from '../../src/contract/errors.ts'

const test = suite('message queue')
const neverAborted = new AbortController().signal
const getErrorCode = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: CadreError) => (error.name === 'CadreError' ? error.code : error.name),
  )

test('turns are granted in order, one at a time', async () => {
  const queue = new MessageQueue()
  const order: string[] = []
  const { end } = await queue.acquireTurn('a', false, neverAborted)
  const later = ['one', 'two', 'three'].map(async (name) => {
    const { end: done } = await queue.acquireTurn('a', true, neverAborted)
    order.push(`${name} begins`)
    await null
    order.push(`${name} ends`)
    done()
  })
  order.push('first ends')
  end()
  await Promise.all(later)
  assert.equal(order, ['first ends', 'one begins', 'one ends', 'two begins', 'two ends', 'three begins', 'three ends'])
  ;(await queue.acquireTurn('a', false, neverAborted)).end()
})

test('conversations have independent queues', async () => {
  const queue = new MessageQueue()
  await queue.acquireTurn('a', false, neverAborted)
  await queue.acquireTurn('b', false, neverAborted)
  assert.is(await getErrorCode(queue.acquireTurn('a', false, neverAborted)), 'CONFLICT')
})

test('ending a turn twice starts only one other turn', async () => {
  const queue = new MessageQueue()
  const { end } = await queue.acquireTurn('a', false, neverAborted)
  const second = queue.acquireTurn('a', true, neverAborted)
  let third = false
  void queue.acquireTurn('a', true, neverAborted).then(() => {
    third = true
  })
  end()
  end()
  await second
  await null
  assert.not.ok(third)
})

test('a message that arrives while a turn is being stored waits for it', async () => {
  const queue = new MessageQueue()
  const first = await queue.acquireTurn('a', false, neverAborted)
  first.markStoring()
  const second = queue.acquireTurn('a', false, neverAborted)
  assert.is(await getErrorCode(queue.acquireTurn('a', false, neverAborted)), 'CONFLICT')
  first.end()
  await second
  first.markStoring()
  assert.is(await getErrorCode(queue.acquireTurn('a', false, neverAborted)), 'CONFLICT')
})

test('the queue is limited, and an aborted message leaves it', async () => {
  const queue = new MessageQueue()
  const { end } = await queue.acquireTurn('a', false, neverAborted)
  const leaving = new AbortController()
  const gone = getErrorCode(queue.acquireTurn('a', true, leaving.signal))
  const waiting = Array.from({ length: 19 }, () => queue.acquireTurn('a', true, neverAborted))
  assert.is(await getErrorCode(queue.acquireTurn('a', true, neverAborted)), 'CONFLICT')
  leaving.abort()
  assert.is(await gone, 'AbortError')
  waiting.push(queue.acquireTurn('a', true, neverAborted))
  end()
  for (const turn of waiting) (await turn).end()
  ;(await queue.acquireTurn('a', false, neverAborted)).end()
})

test('closing the queue rejects waiting and new messages', async () => {
  const queue = new MessageQueue()
  await queue.acquireTurn('a', false, neverAborted)
  const waiting = getErrorCode(queue.acquireTurn('a', true, neverAborted))
  queue.close()
  assert.equal([await waiting, await getErrorCode(queue.acquireTurn('b', true, neverAborted))], ['UNAVAILABLE', 'UNAVAILABLE'])
})

test.run()
