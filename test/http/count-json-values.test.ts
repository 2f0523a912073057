import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hasMoreValuesThan } from '../../daemon/http/count-json-values.ts'

const test = suite('count JSON values')

test('values inside strings are not counted', () => {
  for (const [value, count] of [
    [{}, 1],
    [[1, 2, 3], 3],
    [{ a: [[], {}], b: ',,[[' }, 6],
    [{ content: 'a "quoted, [text]", and \\ a backslash \\', metadata: { '",': 1 } }, 3],
    [['\\\\"'], 1],
  ] as const) {
    const json = JSON.stringify(value)
    assert.equal([hasMoreValuesThan(json, count), hasMoreValuesThan(json, count - 1)], [false, true], json)
  }
})

test('an unterminated string and 6 MB of empty arrays are counted', () => {
  assert.is(hasMoreValuesThan(`"${'\\"'.repeat(1_000_000)}`, 0), false)
  assert.is(hasMoreValuesThan(`[${'[],'.repeat(2_000_000)}[]]`, 1_000_000), true)
  assert.is(hasMoreValuesThan('['.repeat(6_000_000), 1_000_000), true)
})

test.run()
