/** The position of the cursor that the terminal reports. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CursorQuery } from '../../../src/tui/input/cursor-query.ts'
import { KeyDecoder } from '../../../src/tui/input/key-decoder.ts'

const test = suite('cursor query')

test('the report is no key, and contains the row', async () => {
  const written: string[] = []
  const query = new CursorQuery((text) => written.push(text))
  const answers = [query.ask(), query.ask()]
  const keys = new KeyDecoder().push('a\u001b[12;40Rb')
  assert.equal(
    keys.map(({ name }) => name),
    ['text', 'cursor-position', 'text'],
  )
  query.receive(keys[1]?.text ?? '')
  assert.equal([await Promise.all(answers), written], [[11, 11], ['\u001b[6n']], 'asked once')
  await query.settled
})

test('a malformed report is neither a key nor a position', () => {
  for (const report of ['\u001b[;5R', '\u001b[?3;5R', '\u001b[3;R', '\u001b[3;5;1R'])
    assert.equal(new KeyDecoder().push(report), [], report)
})

test('a terminal that does not answer is not asked again, and a late answer is ignored', async () => {
  const written: string[] = []
  const query = new CursorQuery((text) => written.push(text), 5)
  assert.is(await query.ask(), undefined)
  query.receive('12;40')
  assert.is(await query.ask(), undefined)
  assert.equal(written, ['\u001b[6n'])
})

test.run()
