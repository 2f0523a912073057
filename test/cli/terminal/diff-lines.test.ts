import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatFigures, formatResult } from '../../../src/cli/evaluations/format-report.ts'
import { diffLines } from '../../../src/cli/terminal/diff-lines.ts'
import type { RunResult } from '../../../src/contract/families/evaluation-runs.ts'

const test = suite('diff of expected and actual')
const formatDiff = (before: string, after: string) => diffLines(before, after).map(({ sign, text }) => sign + text)

test('diffLines marks added and removed lines in order', () => {
  assert.equal(formatDiff('a\nb\nc', 'a\nx\nc'), [' a', '-b', '+x', ' c'])
  assert.equal(formatDiff('a\nb', 'a\nb'), [' a', ' b'])
  assert.equal(formatDiff('b\nc', 'a\nb\nc\nd'), ['+a', ' b', ' c', '+d'])
  assert.equal(formatDiff('a\na', 'a'), [' a', '-a'])
  assert.equal(formatDiff('', 'a'), ['-', '+a'])
})

test('diffLines reports long texts with many changes as entirely different', () => {
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
  return formatResult(result as unknown as RunResult, { columns: 80, stream: { isTTY: false } as NodeJS.WriteStream }).slice(1)
}

test('a failed result shows the changed lines with context', () => {
  const lines = (third: string) => `1\n2\n${third}\n4\n5\n6\n7\n8`
  assert.equal(
    failed(lines('three'), lines('drei')),
    ['- expected', '+ actual', '  1', '  2', '- three', '+ drei', '  4', '  5', '  …'].map((line) => `    ${line}`),
  )
})

test('a failed result without common lines shows both texts', () => {
  assert.equal(failed('red', 'blue'), ['    expected red', '    actual   blue'])
})

test('latency and cost scorers show their values and limits with units', () => {
  const latency = { score: 0.25, passed: false, threshold: 100, latency_ms: 400 }
  const cost = { score: 0.5, passed: false, threshold: 0.01, cost: 0.02 }
  const exact = { score: 0, passed: false, threshold: 1 }
  assert.equal(failed(null, 'a', { scores: { latency, cost, exact } }), [
    '    actual   a',
    '    latency 400 ms (at most 100 ms)',
    '    cost 0.02 USD (at most 0.01 USD)',
    '    exact 0.00 (needs 1)',
  ])
})

test('a scorer error is shown once', () => {
  const llm_judge = { score: null, passed: false, reason: 'The judge is away.' }
  assert.equal(failed(null, 'a', { score: null, error: 'llm_judge: The judge is away.', scores: { llm_judge } }), [
    '    error    llm_judge: The judge is away.',
    '    actual   a',
  ])
})

test('the figures of a run are a table that fits the terminal', () => {
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
    ['PASSED', 'FAILED', 'ERRORS', 'SCORE', 'P50', 'P95', 'TOKENS', 'COST'],
    ['4', '1', '0', '0.75', '40 ms', '1.5 s', '1,234', 'unknown'],
  ])
  assert.equal(lines(39)[0], ['PASSED', 'FAILED', 'ERRORS', 'SCORE', 'P50'])
})

test.run()
