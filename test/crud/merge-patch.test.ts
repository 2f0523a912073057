import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mergePatch } from '../../daemon/crud/merge-patch.ts'

const test = suite('merge patch')

test('the examples of RFC 7396 are merged as specified', () => {
  const examples: [target: unknown, patch: unknown, result: unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]
  for (const [target, patch, result] of examples) assert.equal(mergePatch(target, patch), result, JSON.stringify(patch))
})

test('neither the target nor Object.prototype is changed', () => {
  const target = { a: { b: 1 } }
  mergePatch(target, { a: { b: 2 }, c: 3 })
  assert.equal(target, { a: { b: 1 } })
  const merged = mergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}')) as object
  assert.ok(Object.hasOwn(merged, '__proto__'))
  assert.is(({} as { polluted?: boolean }).polluted, undefined)
})

test.run()
