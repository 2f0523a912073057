/** Two runs side by side: which test cases went better or worse, and whether that is more than chance. */
import type { Static } from 'typebox'
import type { Run, RunComparison } from '../../src/contract/families/evaluation-runs.ts'
import type { Outcome } from './comparison-store.ts'

export interface ComparedResult extends Outcome {
  /** Tells a test case from all others, also after some were added or moved. */
  key: string
}

type Comparison = Static<typeof RunComparison>

/** A test case of both runs, by the first of its repeats. */
export interface Difference {
  change: 'better' | 'worse'
  a: Outcome
  b: Outcome
}

const EPSILON = 1e-9
const SIGNIFICANCE_LEVEL = 0.05

export function compareRuns(
  a: Static<typeof Run>,
  b: Static<typeof Run>,
  before: readonly ComparedResult[],
  after: readonly ComparedResult[],
) {
  const old = groupByCase(before)
  const fresh = groupByCase(after)
  const differences: Difference[] = []
  let same = 0
  for (const [key, now] of fresh) {
    const then = old.get(key)
    if (!then) continue
    const change = compareOutcomes(then, now)
    if (change === undefined) same++
    else differences.push({ change, a: then, b: now })
  }
  const better = differences.filter(({ change }) => change === 'better').length
  const worse = differences.length - better
  const p_value = computeSignTest(better, worse)
  const comparison: Omit<Comparison, 'changes'> = {
    a,
    b,
    better,
    worse,
    same,
    only_a: [...old.keys()].filter((key) => !fresh.has(key)).length,
    only_b: [...fresh.keys()].filter((key) => !old.has(key)).length,
    pass_rate_change: computePassRate(after, old) - computePassRate(before, fresh),
    p_value,
    verdict: p_value > SIGNIFICANCE_LEVEL || better === worse ? 'same' : better > worse ? 'better' : 'worse',
  }
  return {
    comparison,
    differences: differences.sort((x, y) => Number(x.change === 'better') - Number(y.change === 'better') || x.b.position - y.b.position),
  }
}

/** Of the test cases that the other run has too: one that was added or taken out makes nothing better or worse. */
function computePassRate(results: readonly ComparedResult[], others: ReadonlyMap<string, unknown>): number {
  const shared = results.filter(({ key }) => others.has(key))
  return shared.length === 0 ? 0 : shared.filter(({ passed }) => passed).length / shared.length
}

/** Repeats of a test case count as one, by their mean; it passes where most of them do. */
function groupByCase(results: readonly ComparedResult[]): Map<string, Outcome> {
  const grouped = new Map<string, ComparedResult[]>()
  for (const result of results) {
    const group = grouped.get(result.key)
    if (group) group.push(result)
    else grouped.set(result.key, [result])
  }
  return new Map(
    [...grouped].map(([key, group]) => {
      const first = group[0] as ComparedResult
      const scores = group.flatMap(({ score }) => score ?? [])
      const passed = group.filter((result) => result.passed).length * 2 > group.length
      return [key, { ...first, passed, score: scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length }]
    }),
  )
}

/** Whether it passes says more than its score; a case that could not be scored is as bad as one that scored nothing. */
function compareOutcomes(then: Outcome, now: Outcome): 'better' | 'worse' | undefined {
  if (then.passed !== now.passed) return now.passed ? 'better' : 'worse'
  const difference = (now.score ?? 0) - (then.score ?? 0)
  return Math.abs(difference) < EPSILON ? undefined : difference > 0 ? 'better' : 'worse'
}

/** How likely at least such a split is if better and worse were a coin's sides: two-sided, exact. */
export function computeSignTest(better: number, worse: number): number {
  const n = better + worse
  if (n === 0) return 1
  const least = Math.min(better, worse)
  // In logarithms: two to the power of a thousand cases is beyond a number.
  let log = -n * Math.LN2
  let tail = 0
  for (let k = 0; k <= least; k++) {
    tail += Math.exp(log)
    log += Math.log(n - k) - Math.log(k + 1)
  }
  return Math.min(1, 2 * tail)
}
