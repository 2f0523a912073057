/** Scores an answer with all scorers of a test case. */
import { CadreError } from '../../src/contract/errors.ts'
import type { ScorerSettings } from '../../src/contract/families/evaluations.ts'
import { SCORERS, type ScoredAnswer, type ScoredCase, type ScorerInput, type ScorerTools } from './scorers.ts'

interface ScorerReport {
  score: number | null
  passed: boolean
  threshold?: number
  reason?: string
  [figure: string]: unknown
}

interface AnswerScores {
  scores: Record<string, ScorerReport>
  score: number | null
  passed: boolean
  /** Errors of scorers that could not score the answer. */
  error: string | null
}

export async function scoreAnswer(
  scorers: readonly ScorerSettings[],
  test: ScoredCase,
  answer: ScoredAnswer,
  tools: ScorerTools,
): Promise<AnswerScores> {
  const reports = await Promise.all(
    scorers.map(async (settings): Promise<ScorerReport & { failure?: string }> => {
      try {
        return await runScorer({ settings, test, answer, tools })
      } catch (error) {
        if (!(error instanceof CadreError) || error.code === 'UNAVAILABLE') throw error
        return { score: null, passed: false, reason: error.message, failure: `${settings.type}: ${error.message}` }
      }
    }),
  )
  const scores: Record<string, ScorerReport> = {}
  for (const [index, { failure: _, ...report }] of reports.entries())
    scores[createUniqueName((scorers[index] as ScorerSettings).type, scores)] = report
  const numbers = reports.flatMap(({ score }) => score ?? [])
  const failures = reports.flatMap(({ failure }) => failure ?? [])
  return {
    scores,
    score: numbers.length === 0 ? null : numbers.reduce((sum, score) => sum + score, 0) / numbers.length,
    passed: reports.every(({ passed }) => passed),
    error: failures.length === 0 ? null : failures.join(' '),
  }
}

async function runScorer(input: ScorerInput): Promise<ScorerReport> {
  const { settings } = input
  const scorer = SCORERS[settings.type]
  if ('measure' in scorer) {
    const value = scorer.measure(input)
    return { ...compareWithLimit(value, settings.threshold), [scorer.field]: value }
  }
  const { score, ...details } = await scorer.score(input)
  const threshold = settings.threshold ?? scorer.getDefaultThreshold?.(settings) ?? 1
  return { score, passed: score >= threshold, threshold, ...details }
}

/** Beyond the limit, the score is the limit divided by the value. */
function compareWithLimit(value: number, limit: number | undefined): ScorerReport {
  if (limit === undefined) return { score: null, passed: true }
  const passed = value <= limit
  return { score: passed ? 1 : limit / value, passed, threshold: limit }
}

function createUniqueName(type: string, taken: Record<string, unknown>): string {
  let name = type
  for (let count = 2; Object.hasOwn(taken, name); count++) name = `${type}_${count}`
  return name
}
