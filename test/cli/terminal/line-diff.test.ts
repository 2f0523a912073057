import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatFigures, formatResult, type Result } from '../../../src/cli/evaluations/format-report.ts'
import { diffLines } from '../../../src/cli/terminal/line-diff.ts'

const test = suite('differences of expected and actual')
const told = (before: string, after: string) => diffLines(before, after).map(({ sign, text }) => sign + text)

test('lines that only one text has are marked, in order', () => {
  assert.equal(told('a\nb\nc', 'a\nx\nc'), [' a', '-b', '+x', ' c'])
  assert.equal(told('a\nb', 'a\nb'), [' a', ' b'])
  assert.equal(told('b\nc', 'a\nb\nc\nd'), ['+a', ' b', ' c', '+d'])
  assert.equal(told('a\na', 'a'), [' a', '-a'])
  assert.equal(told('', 'a'), ['-', '+a'])
})

test('what is too long to compare is told as wholly different, at once', () => {
  const many = (word: string) => Array.from({ length: 2_000 }, (_, index) => `${word} ${index}`).join('\n')
  assert.is(diffLines(many('a'), many('b')).length, 4_000)
})

const failed = (expected_output: string | null, actual_output: string, more: object = {}): string[] => {
  const result = {
    position: 0,
    repeat: 1,
    input: 'q',
    passed: false,
    error: null,
    score: 0,
    scores: {},
    expected_output,
    actual_output,
    ...more,
  }
  return formatResult(result as unknown as Result, { columns: 80, stream: { isTTY: false } as NodeJS.WriteStream }).slice(1)
}

test('a failure shows the lines that differ and what stands around them', () => {
  const lines = (third: string) => `1\n2\n${third}\n4\n5\n6\n7\n8`
  assert.equal(
    failed(lines('three'), lines('drei')),
    ['- expected', '+ actual', '  1', '  2', '- three', '+ drei', '  4', '  5', '  …'].map((line) => `    ${line}`),
  )
})

test('texts that share no line are told one after the other', () => {
  assert.equal(failed('red', 'blue'), ['    expected red', '    actual   blue'])
})

test('latency and cost are told in milliseconds and money, as their limits are', () => {
  const latency = { score: 0.25, passed: false, threshold: 100, latency_ms: 400 }
  const cost = { score: 0.5, passed: false, threshold: 0.01, cost: 0.02 }
  const exact = { score: 0, passed: false, threshold: 1 }
  assert.equal(failed(null, 'a', { scores: { latency, cost, exact } }), [
    '    actual   a',
    '    latency 400 ms (at most 100 ms)',
    '    cost 0.02 (at most 0.01)',
    '    exact 0.00 (needs 1)',
  ])
})

test('what a scorer could not do is told once', () => {
  const llm_judge = { score: null, passed: false, reason: 'The judge is away.' }
  assert.equal(failed(null, 'a', { score: null, error: 'llm_judge: The judge is away.', scores: { llm_judge } }), [
    '    error    llm_judge: The judge is away.',
    '    actual   a',
  ])
})

test('the figures of a run are a table that fits', () => {
  const figures = {
    total: 9,
    passed: 4,
    failed: 1,
    errors: 0,
    pass_rate: 0.8,
    average_score: 0.75,
    latency_p50_ms: 40,
    latency_p95_ms: 1500,
    tokens: 1234,
    cost: null,
  }
  const lines = (columns: number) =>
    formatFigures(figures, { columns, stream: { isTTY: false } as NodeJS.WriteStream }).map((line) => line.split(/ {2,}/))
  assert.equal(lines(80), [
    ['PASSED', 'FAILED', 'ERRORS', 'SCORE', 'HALF WITHIN', '95 % WITHIN', 'TOKENS', 'COST'],
    ['4', '1', '0', '0.75', '40 ms', '1.5 s', '1,234', 'not known'],
  ])
  assert.equal(lines(39)[0], ['PASSED', 'FAILED', 'ERRORS', 'SCORE'])
})

test.run()
