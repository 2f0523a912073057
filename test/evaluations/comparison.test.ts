import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ComparedResult, compareRuns, computeSignTest } from '../../daemon/evaluations/compare-runs.ts'

const test = suite('comparison of runs')

const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`)
const run = (pass_rate: number) => ({ summary: { pass_rate } }) as never
const result = (key: string, score: number | null, passed = score === 1): ComparedResult => ({
  key,
  position: key.charCodeAt(0) - 97,
  repeat: 1,
  passed,
  score,
})

test('the sign test is exact and two-sided', () => {
  near(computeSignTest(0, 0), 1)
  near(computeSignTest(5, 0), 2 / 32)
  near(computeSignTest(0, 6), 2 / 64)
  near(computeSignTest(8, 2), (2 * (1 + 10 + 45)) / 1024)
  near(computeSignTest(3, 3), 1)
  assert.ok(computeSignTest(700, 300) < 1e-30 && computeSignTest(700, 300) > 0)
})

test('a test case is compared by whether it passes, then by its score', () => {
  const before = [result('a', 1), result('b', 0), result('c', 0.2, false), result('d', 1), result('x', 1)]
  const after = [result('a', 0), result('b', 1), result('c', 0.3, false), result('d', 1), result('y', 1)]
  const { comparison, differences } = compareRuns(run(0.6), run(0.4), before, after)
  const { better, worse, same, only_a, only_b, verdict, pass_rate_change } = comparison
  assert.equal([better, worse, same, only_a, only_b, verdict], [2, 1, 1, 1, 1, 'same'])
  assert.equal(
    differences.map(({ b, change }) => `${String.fromCharCode(97 + b.position)} ${change}`),
    ['a worse', 'b better', 'c better'],
  )
  near(pass_rate_change, 0)
})

test('test cases of only one run do not change the pass rate', () => {
  const harder = compareRuns(run(1), run(0.5), [result('a', 1)], [result('a', 1), result('b', 0)])
  assert.equal([harder.comparison.pass_rate_change, harder.comparison.only_b], [0, 1])
  const hidden = compareRuns(
    run(0.5),
    run(0.5),
    [result('a', 1), result('b', 1), result('x', 0), result('y', 0)],
    [result('a', 1), result('b', 0)],
  )
  assert.equal([hidden.comparison.pass_rate_change, hidden.comparison.only_a], [-0.5, 2])
  assert.is(compareRuns(run(1), run(0), [result('a', 1)], [result('b', 0)]).comparison.pass_rate_change, 0)
})

test('repeats of a test case count once, with their mean', () => {
  const before = [result('a', 1), result('a', 0), result('a', 0)]
  const after = [result('a', 1), result('a', 1), result('a', 0)]
  assert.equal(compareRuns(run(0), run(1), before, after).comparison.better, 1)
})

test('an insignificant difference has the verdict "same"', () => {
  const cases = 'abcdefgh'.split('')
  const five = compareRuns(
    run(0),
    run(1),
    cases.slice(0, 5).map((key) => result(key, 0)),
    cases.slice(0, 5).map((key) => result(key, 1)),
  )
  assert.equal([five.comparison.better, five.comparison.verdict], [5, 'same'])
  const six = compareRuns(
    run(1),
    run(0),
    cases.slice(0, 6).map((key) => result(key, 1)),
    cases.slice(0, 6).map((key) => result(key, 0)),
  )
  assert.equal([six.comparison.worse, six.comparison.verdict], [6, 'worse'])
})

test.run()
