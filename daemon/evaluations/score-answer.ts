/** Holds an answer against its test case with every scorer, and says what each made of it. */
import type { Static } from 'typebox'
import { CadreError } from '../../src/contract/errors.ts'
import type { Citation } from '../../src/contract/families/conversations.ts'
import type { ScorerSettings } from '../../src/contract/families/evaluations.ts'
import type { ChatMessage } from '../models/chat-model.ts'
import { buildJudgePrompt, parseVerdict } from './judge.ts'
import { scoreJson } from './score-json.ts'
import { scoreCitations, scoreRetrieval } from './score-sources.ts'
import { scoreContains, scoreExact, scoreTokenF1 } from './score-text.ts'

export interface ScoredCase {
  input: string
  expected_output?: string
  expected_sources?: readonly string[]
}

export interface ScoredAnswer {
  output: string
  citations: readonly Static<typeof Citation>[]
  latency_ms: number
  /** Null where the price is not known. */
  cost: number | null
}

export interface ScorerReport {
  score: number | null
  passed: boolean
  threshold?: number
  reason?: string
  [figure: string]: unknown
}

export interface AnswerScores {
  scores: Record<string, ScorerReport>
  score: number | null
  passed: boolean
  /** Why a scorer could not do its work. */
  error: string | null
}

/** What scorers need that is not in the answer. */
export interface ScorerTools {
  matchPattern(pattern: string, text: string): Promise<boolean>
  /** Cosine of both texts' meanings. */
  computeSimilarity(a: string, b: string): Promise<number>
  askModel(modelId: string | null, messages: readonly ChatMessage[]): Promise<string>
}

/** Least scores that pass, where an evaluation names none. */
const THRESHOLDS: Partial<Record<ScorerSettings['type'], number>> = { similarity: 0.75, token_f1: 0.5, llm_judge: 0.7 }

export async function scoreAnswer(
  scorers: readonly ScorerSettings[],
  test: ScoredCase,
  answer: ScoredAnswer,
  tools: ScorerTools,
): Promise<AnswerScores> {
  const reports = await Promise.all(
    scorers.map(async (scorer): Promise<ScorerReport & { failure?: string }> => {
      try {
        return await report(scorer, test, answer, tools)
      } catch (error) {
        if (!(error instanceof CadreError) || error.code === 'UNAVAILABLE') throw error
        return { score: null, passed: false, reason: error.message, failure: `${scorer.type}: ${error.message}` }
      }
    }),
  )
  const scores: Record<string, ScorerReport> = {}
  for (const [index, { failure: _, ...told }] of reports.entries()) scores[freeName((scorers[index] as ScorerSettings).type, scores)] = told
  const numbers = reports.flatMap(({ score }) => score ?? [])
  const failures = reports.flatMap(({ failure }) => failure ?? [])
  return {
    scores,
    score: numbers.length === 0 ? null : numbers.reduce((sum, score) => sum + score, 0) / numbers.length,
    passed: reports.every(({ passed }) => passed),
    error: failures.length === 0 ? null : failures.join(' '),
  }
}

async function report(scorer: ScorerSettings, test: ScoredCase, answer: ScoredAnswer, tools: ScorerTools): Promise<ScorerReport> {
  const { type, threshold } = scorer
  if (type === 'latency') return within(answer.latency_ms, threshold, 'latency_ms')
  if (type === 'cost') {
    if (answer.cost === null) throw new CadreError('VALIDATION_ERROR', 'The price of the model is not known; set its pricing.')
    return within(answer.cost, threshold, 'cost')
  }
  const { score, ...more } = await scored(scorer, test, answer, tools)
  const least = threshold ?? THRESHOLDS[type] ?? (type === 'retrieval' && scorer.metric === 'mrr' ? 0.5 : 1)
  return { score, passed: score >= least, threshold: least, ...more }
}

async function scored(
  scorer: ScorerSettings,
  test: ScoredCase,
  answer: ScoredAnswer,
  tools: ScorerTools,
): Promise<{ score: number; reason?: string }> {
  const { output } = answer
  switch (scorer.type) {
    case 'exact':
      return { score: scoreExact(expectation(test), output) }
    case 'contains':
      return { score: scoreContains(expectation(test), output) }
    case 'regex':
      return { score: Number(await tools.matchPattern(expectation(test), output)) }
    case 'json':
      return scoreJson(expectation(test), output)
    case 'similarity':
      return { score: Math.max(0, await tools.computeSimilarity(expectation(test), output)) }
    case 'token_f1':
      return { score: scoreTokenF1(expectation(test), output) }
    case 'citation':
      return scoreCitations(
        sources(test),
        answer.citations.filter(({ cited }) => cited),
      )
    case 'retrieval': {
      const { hit, reciprocal_rank, rank } = scoreRetrieval(sources(test), answer.citations, scorer.k)
      const reason = hit === 0 ? { reason: `Not found: ${sources(test).slice(0, 5).join(', ')}.` } : {}
      return { score: scorer.metric === 'mrr' ? reciprocal_rank : hit, ...{ hit, reciprocal_rank, rank }, ...reason }
    }
    default:
      return judge(scorer, test, output, tools)
  }
}

/** A judge that talks nonsense is asked once more; after that there is no score, and no guess either. */
async function judge({ model_id, instructions }: ScorerSettings, test: ScoredCase, actual: string, tools: ScorerTools) {
  const prompt = buildJudgePrompt({ input: test.input, expected: test.expected_output, actual, instructions })
  for (let attempt = 0; attempt < 2; attempt++) {
    const verdict = parseVerdict(await tools.askModel(model_id ?? null, prompt))
    if (verdict) return verdict
  }
  throw new CadreError('PROVIDER_ERROR', 'The judge did not answer with a score from 0 to 1, not even when asked again.')
}

/** At most so much; how far beyond it was makes the score. Without a limit it is only measured. */
function within(value: number, limit: number | undefined, name: string): ScorerReport {
  if (limit === undefined) return { score: null, passed: true, [name]: value }
  const passed = value <= limit
  return { score: passed ? 1 : limit / value, passed, threshold: limit, [name]: value }
}

function expectation({ expected_output }: ScoredCase): string {
  if (expected_output === undefined) throw new CadreError('VALIDATION_ERROR', 'The test case has no expected_output.')
  return expected_output
}

function sources({ expected_sources, expected_output }: ScoredCase): readonly string[] {
  if (expected_sources) return expected_sources
  if (expected_output) return [expected_output]
  throw new CadreError('VALIDATION_ERROR', 'The test case has no expected_sources.')
}

function freeName(type: string, taken: Record<string, unknown>): string {
  let name = type
  for (let count = 2; Object.hasOwn(taken, name); count++) name = `${type}_${count}`
  return name
}
