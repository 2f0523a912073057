import { PassThrough } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Key, KeyDecoder } from '../../../src/tui/input/key-decoder.ts'
import { listenToKeyboard } from '../../../src/tui/input/keyboard.ts'

const test = suite('keyboard')

test('a key that may be the start of a sequence is not lost when the chat stops listening', async () => {
  const input = new PassThrough()
  const keys: Key[] = []
  const decoder = new KeyDecoder()
  const stop = listenToKeyboard(input as unknown as NodeJS.ReadStream, new PassThrough() as unknown as NodeJS.WriteStream, decoder, (key) =>
    keys.push(key),
  )
  // Stops in the event of its arrival, before the time within which the rest of a sequence would follow.
  const left = await new Promise<Key[]>((resolve) => {
    input.on('data', () => resolve(stop()))
    input.write('x\u001b')
  })
  assert.equal(
    [...keys, ...left].map(({ name }) => name),
    ['text', 'escape'],
  )
  assert.not.ok(decoder.hasPending)
})

test.run()
