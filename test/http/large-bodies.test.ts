import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LargeBodies } from '../../daemon/http/large-bodies.ts'

const test = suite('large bodies')
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('each large body has a turn of the event loop, and small ones do not wait', async () => {
  const bodies = new LargeBodies()
  const handled: string[] = []
  for (const name of ['first', 'second', 'third']) bodies.add(1024 * 1024, 'Ada', () => handled.push(name))
  bodies.add(100, 'Ada', () => handled.push('small'))
  assert.equal(handled, ['small'])
  const turns: number[] = []
  while (handled.length < 4) {
    await turn()
    turns.push(handled.length)
  }
  assert.ok(
    turns.every((count, index) => count - (turns[index - 1] ?? 1) <= 1),
    String(turns),
  )
  assert.equal(handled, ['small', 'first', 'second', 'third'])
})

test('senders take turns', async () => {
  const bodies = new LargeBodies()
  const handled: string[] = []
  for (const name of ['Ada 1', 'Ada 2', 'Ada 3', 'Bo 1', 'Bo 2']) bodies.add(1024 * 1024, name.split(' ')[0], () => handled.push(name))
  while (handled.length < 5) await turn()
  assert.equal(handled, ['Ada 1', 'Bo 1', 'Ada 2', 'Bo 2', 'Ada 3'])
})

test.run()
