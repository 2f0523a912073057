import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SCENARIOS } from '../../attack/scenarios.ts'
import { formatMarkdownRows, formatTable, type Result, updateRows } from '../../attack/support/format-table.ts'

const test = suite('promises')
const page = readFileSync(new URL('../../docs/promises.md', import.meta.url), 'utf8')

const createResult = (fields: Partial<Result> = {}): Result => ({
  name: 'kills',
  promise: 'Nothing is lost.',
  amount: '2 kills',
  figure: '0 lost',
  violations: [],
  seconds: 1.2,
  ...fields,
})

test('every scenario has a row in docs/promises.md with its promise, and no other row exists', () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|/gm)].map(([, name, promise]) => ({ name, promise }))
  assert.equal(
    rows,
    SCENARIOS.map(({ name, promise }) => ({ name, promise })),
  )
})

test('no promise in docs/promises.md is broken', () => {
  assert.not.match(page, /\| broken/)
})

test('the table shows kept, broken and skipped promises', () => {
  const table = formatTable([
    createResult(),
    createResult({ name: 'streams', violations: ['one', 'two'] }),
    createResult({ name: 'full-disk', skipped: 'needs Linux' }),
  ])
  assert.equal(table.split('\n'), [
    'Scenario   Amount   Result      Figure       Time',
    'kills      2 kills  kept        0 lost       1 s',
    'streams    2 kills  broken (2)  0 lost       1 s',
    'full-disk  2 kills  skipped     needs Linux  1 s',
  ])
})

test('an update replaces the rows of the scenarios that ran', () => {
  const before = '# Promises\n\n| `kills` | Old. | – | not run | – | – |\n| `streams` | Other. | – | not run | – | – |\n'
  assert.is(
    updateRows(before, formatMarkdownRows([createResult()], '2026-11-16')),
    '# Promises\n\n| `kills` | Nothing is lost. | 2 kills | kept | 0 lost | 2026-11-16 |\n| `streams` | Other. | – | not run | – | – |\n',
  )
})

test.run()
