/** Compares two runs: which test cases improved or regressed, and whether the difference is significant. */
import type { Run, RunComparison } from '../../src/contract/families/evaluation-runs.ts'
import type { Outcome } from './comparison-store.ts'

export interface ComparedResult extends Outcome {
  /** Identifies the test case, also after cases were added or moved. */
  key: string
}

/** A test case whose outcome differs, located by its first repeat. */
interface Difference {
  change: 'better' | 'worse'
  a: Outcome
  b: Outcome
}

const EPSILON = 1e-9
const SIGNIFICANCE_LEVEL = 0.05

export function compareRuns(a: Run, b: Run, before: readonly ComparedResult[], after: readonly ComparedResult[]) {
  const casesBefore = groupByCase(before)
  const casesAfter = groupByCase(after)
  const differences: Difference[] = []
  let same = 0
  for (const [key, current] of casesAfter) {
    const previous = casesBefore.get(key)
    if (!previous) continue
    const change = compareOutcomes(previous, current)
    if (change === undefined) same++
    else differences.push({ change, a: previous, b: current })
  }
  const better = differences.filter(({ change }) => change === 'better').length
  const worse = differences.length - better
  const p_value = computeSignTest(better, worse)
  const comparison: Omit<RunComparison, 'changes'> = {
    a,
    b,
    better,
    worse,
    same,
    only_a: [...casesBefore.keys()].filter((key) => !casesAfter.has(key)).length,
    only_b: [...casesAfter.keys()].filter((key) => !casesBefore.has(key)).length,
    pass_rate_change: computePassRate(after, casesBefore) - computePassRate(before, casesAfter),
    p_value,
    verdict: p_value > SIGNIFICANCE_LEVEL || better === worse ? 'same' : better > worse ? 'better' : 'worse',
  }
  return {
    comparison,
    differences: differences.sort((x, y) => Number(x.change === 'better') - Number(y.change === 'better') || x.b.position - y.b.position),
  }
}

/** Counts only test cases that both runs have. */
function computePassRate(results: readonly ComparedResult[], others: ReadonlyMap<string, unknown>): number {
  const shared = results.filter(({ key }) => others.has(key))
  return shared.length === 0 ? 0 : shared.filter(({ passed }) => passed).length / shared.length
}

/** Combines the repeats of a test case: their mean score, passed if the majority passed. */
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

/** Compares `passed` first, then the score. A missing score counts as 0. */
function compareOutcomes(previous: Outcome, current: Outcome): 'better' | 'worse' | undefined {
  if (previous.passed !== current.passed) return current.passed ? 'better' : 'worse'
  const difference = (current.score ?? 0) - (previous.score ?? 0)
  return Math.abs(difference) < EPSILON ? undefined : difference > 0 ? 'better' : 'worse'
}

/** The exact two-sided p-value of the sign test. */
export function computeSignTest(better: number, worse: number): number {
  const n = better + worse
  if (n === 0) return 1
  const least = Math.min(better, worse)
  // In logarithms: 2^n overflows for a thousand cases.
  let log = -n * Math.LN2
  let tail = 0
  for (let k = 0; k <= least; k++) {
    tail += Math.exp(log)
    log += Math.log(n - k) - Math.log(k + 1)
  }
  return Math.min(1, 2 * tail)
}
