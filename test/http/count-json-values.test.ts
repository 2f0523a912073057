import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hasMoreValuesThan } from '../../daemon/http/count-json-values.ts'
import { measureCpu } from '../harness/measure-cpu.ts'

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

test('an unterminated string and 60 MB of empty arrays are counted in less than 5 seconds', async () => {
  const cost = await measureCpu(() => {
    assert.is(hasMoreValuesThan(`"${'\\"'.repeat(10_000_000)}`, 0), false)
    assert.is(hasMoreValuesThan(`[${'[],'.repeat(20_000_000)}[]]`, 1_000_000), true)
    assert.is(hasMoreValuesThan('['.repeat(60_000_000), 1_000_000), true)
  })
  assert.ok(cost < 5_000, `${cost} ms`)
})

test.run()
