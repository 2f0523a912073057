import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createSortKey } from '../../daemon/store/sort-key.ts'

const test = suite('sort keys')

/** Sorts like SQLite: by code points, which UTF-8 preserves. */
const sortByKey = (names: readonly string[]) =>
  [...names].sort((a, b) => Buffer.compare(Buffer.from(createSortKey(a)), Buffer.from(createSortKey(b))))

test('numbers are compared by their value, in any position', () => {
  const expected = ['1 agent', '9 agents', '10 agents', 'agent', 'agent 2', 'agent 10', 'agent 10 b', 'agent 11', 'v1.2', 'v1.10', 'v2.0']
  assert.equal(sortByKey([...expected].reverse()), expected)
})

test('case and accents are ignored', () => {
  const expected = ['Äpfel', 'apricot', 'Banane', 'Éclair', 'ecru', 'Łódź', 'Lyon', 'orange', 'Øre', 'STRASSE', 'straßen', 'zebra']
  assert.equal(sortByKey([...expected].reverse()), expected)
  for (const [a, b] of [
    ['Agent', 'aGENT'],
    ['café', 'CAFE\u0301'],
    ['Maß', 'MASS'],
    ['agent 007', 'agent 7'],
    ['Ａｇｅｎｔ １', 'agent 1'],
    ['0', '000'],
  ] as const)
    assert.is(createSortKey(a), createSortKey(b), `${a} and ${b}`)
})

test('the order is that of the Unicode collation for names in several languages', () => {
  const names = ['Zürich 2', 'zurich 10', 'Ångström', 'angel', 'Œuvre', 'oboe', 'plan B', 'Plan a', 'ключ 2', 'Ключ 10', 'éte', 'Eton']
  assert.equal(sortByKey(names), [...names].sort(new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare))
})

test.run()
