/** The scorers, by type. A new scorer needs its type in the contract and an entry in this table. */
import { CadreError } from '../../src/contract/errors.ts'
import type { ScorerSettings } from '../../src/contract/families/evaluations.ts'
import type { ChatMessage } from '../models/chat-model.ts'
import { judgeAnswer } from './judge-answer.ts'
import type { TestCase } from './run-store.ts'
import { checkJson, type Score, scoreJson } from './score-json.ts'
import { checkNumber, scoreNumber } from './score-number.ts'
import { scoreCitations, scoreRetrieval } from './score-sources.ts'
import { removeReferences, removeRowsUsed, scoreContains, scoreExact, scoreTokenF1 } from './score-text.ts'
import type { TargetAnswer } from './targets.ts'

export type ScoredCase = Pick<TestCase, 'input' | 'expected_output' | 'expected_sources' | 'memories'>
export type ScoredAnswer = Pick<TargetAnswer, 'output' | 'citations' | 'latency_ms' | 'cost' | 'confidence'>

/** Services that scorers use besides the answer. */
export interface ScorerTools {
  matchPattern(pattern: string, text: string): Promise<boolean>
  /** Cosine similarity of the embeddings of both texts. */
  computeSimilarity(a: string, b: string): Promise<number>
  askModel(modelId: string | null, messages: readonly ChatMessage[]): Promise<string>
}

export interface ScorerInput {
  settings: ScorerSettings
  test: ScoredCase
  answer: ScoredAnswer
  tools: ScorerTools
}

export type Scorer =
  | {
      score(input: ScorerInput): Score | Promise<Score>
      /** Minimum score to pass if the settings have no threshold. Default: 1. */
      getDefaultThreshold?(settings: ScorerSettings): number
      /** Checked when the evaluation is saved: an invalid expected_output would fail in every run. `check` throws if it is invalid. */
      expectation?: { check(expected: string): void; problem: string }
    }
  /** Passes up to a maximum, the threshold; without one the value is only measured. The field stores the value. */
  | { field: string; measure(input: ScorerInput): number }

export const SCORERS: Record<ScorerSettings['type'], Scorer> = {
  exact: { score: ({ test, answer }) => ({ score: scoreExact(requireOutput(test), answer.output) }) },
  contains: { score: ({ test, answer }) => ({ score: Number(containsText(answer, requireOutput(test))) }) },
  regex: {
    score: async ({ test, answer, tools }) => ({
      score: Number(await tools.matchPattern(requireOutput(test), removeRowsUsed(answer.output))),
    }),
    expectation: {
      check: (expected) => void new RegExp(expected, 'u'),
      problem: 'must be a regular expression for the scorer regex',
    },
  },
  number: {
    score: ({ test, answer, settings }) => scoreNumber(requireOutput(test), answer.output, settings.tolerance),
    expectation: { check: checkNumber, problem: 'must contain a number for the scorer number' },
  },
  json: {
    score: ({ test, answer }) => scoreJson(requireOutput(test), answer.output),
    expectation: { check: checkJson, problem: 'must be JSON for the scorer json' },
  },
  similarity: {
    score: async ({ test, answer, tools }) => ({
      score: Math.max(0, await tools.computeSimilarity(requireOutput(test), removeRowsUsed(answer.output))),
    }),
    getDefaultThreshold: () => 0.75,
  },
  token_f1: {
    score: ({ test, answer }) => ({ score: scoreTokenF1(requireOutput(test), removeRowsUsed(answer.output)) }),
    getDefaultThreshold: () => 0.5,
  },
  llm_judge: {
    score({ settings: { model_id = null, instructions }, test, answer, tools }) {
      const material = { input: test.input, expected: test.expected_output, actual: answer.output, instructions }
      return judgeAnswer(material, (prompt) => tools.askModel(model_id, prompt))
    },
    getDefaultThreshold: () => 0.7,
  },
  citation: {
    score: ({ test, answer }) => {
      const cited = answer.citations.filter((citation) => citation.cited)
      return scoreCitations(requireSources(test), cited)
    },
  },
  retrieval: {
    score({ settings, test, answer }) {
      const expected = requireSources(test)
      const figures = scoreRetrieval(expected, answer.citations, settings.k)
      const reason = figures.hit === 0 ? { reason: `Not found: ${expected.slice(0, 5).join(', ')}.` } : {}
      return { score: settings.metric === 'mrr' ? figures.reciprocal_rank : figures.hit, ...figures, ...reason }
    },
    getDefaultThreshold: ({ metric }) => (metric === 'mrr' ? 0.5 : 1),
  },
  confidence: {
    score({ settings: { levels = ['certain', 'probable'] }, answer: { confidence } }) {
      if (confidence === undefined)
        throw new CadreError('VALIDATION_ERROR', 'The answer has no confidence. Only answers of the embedded model have one.')
      return levels.includes(confidence) ? { score: 1 } : { score: 0, reason: `The confidence is ${confidence}.` }
    },
  },
  memory: {
    score: ({ test, answer, settings: { used = true } }) => {
      const expected = requireRememberedOutput(test)
      const isUsed = containsText(answer, expected)
      const reason = isUsed ? `The answer uses "${expected}".` : `The answer does not use "${expected}".`
      return { score: Number(isUsed === used), ...(isUsed === used ? {} : { reason }) }
    },
  },
  latency: { field: 'latency_ms', measure: ({ answer }) => answer.latency_ms },
  cost: {
    field: 'cost',
    measure({ answer }) {
      if (answer.cost === null) throw new CadreError('VALIDATION_ERROR', 'The price of the model is unknown. Set its pricing.')
      return answer.cost
    },
  },
}

/** Searches the answer without the rows and citation numbers below it. */
const containsText = ({ output }: ScoredAnswer, expected: string): boolean =>
  scoreContains(expected, removeReferences(removeRowsUsed(output), expected)) === 1

/** The part of a fact that an answer contains if it uses the fact. */
function requireRememberedOutput(test: ScoredCase): string {
  const expected = requireOutput(test)
  if (test.memories?.some((fact) => scoreContains(expected, fact) === 1)) return expected
  throw new CadreError('VALIDATION_ERROR', 'No memory of the test case contains its expected_output.')
}

function requireOutput({ expected_output }: ScoredCase): string {
  if (expected_output === undefined)
    throw new CadreError(
      'VALIDATION_ERROR',
      'The test case has no expected_output. For a question that the documents do not answer, give it the scorer confidence ' +
        'with levels none.',
    )
  return expected_output
}

function requireSources({ expected_sources, expected_output }: ScoredCase): readonly string[] {
  if (expected_sources) return expected_sources
  if (expected_output) return [expected_output]
  throw new CadreError('VALIDATION_ERROR', 'The test case has no expected_sources.')
}
