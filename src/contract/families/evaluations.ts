/** Evaluations: test cases and scorers for an agent, a RAG tool, a prompt template or a model. */
import { type Static, Type } from 'typebox'
import { createBody, createCrudRoutes, createFamily, idParams, updateBody } from '../crud.ts'
import { route } from '../route.ts'
import { CONFIDENCE_LEVELS } from '../schemas/confidence.ts'
import {
  createExample,
  flag,
  identifier,
  integer,
  jsonObject,
  namedObject,
  nonEmptyText,
  nullable,
  optional,
  pick,
  resource,
  resourceName,
  stringEnum,
  text,
} from '../schemas/fields.ts'

export const EVALUATION_TYPES = ['agent', 'rag_tool', 'prompt_template', 'model'] as const
const SCORERS = [
  'exact',
  'contains',
  'regex',
  'number',
  'json',
  'similarity',
  'token_f1',
  'llm_judge',
  'citation',
  'retrieval',
  'confidence',
  'memory',
  'latency',
  'cost',
] as const

const scorerType = stringEnum(SCORERS, { description: 'Type of the scorer.' })
const Scorer = namedObject('Scorer', 'A rule that scores a result.', {
  type: scorerType,
  ...optional({
    threshold: Type.Number({
      minimum: 0,
      description: 'Minimum score to pass, from 0 to 1. Latency (milliseconds) and cost: the maximum to pass; without it only measured.',
    }),
    tolerance: Type.Number({ minimum: 0, default: 0, description: 'For number: largest difference from the expected number.' }),
    k: integer('For retrieval: number of top passages to search for an expected source. Default: all.', { minimum: 1, maximum: 100 }),
    metric: stringEnum(['hit', 'mrr'], {
      default: 'hit',
      description: 'For retrieval: whether an expected source was found (hit), or its reciprocal rank (mrr).',
    }),
    levels: Type.Array(stringEnum(CONFIDENCE_LEVELS), {
      minItems: 1,
      maxItems: 3,
      description: 'For confidence: accepted levels. Default: certain and probable.',
    }),
    used: flag('For memory: whether the answer must use the fact (true) or must not (false).', true),
    model_id: identifier("the judge model, its unique name or the provider's name for it. Default: the default model"),
    instructions: text('Instructions for the judge.', 20_000),
  }),
})
export type ScorerSettings = Static<typeof Scorer>
const scorerInputs = Type.Array(
  Type.Unsafe<ScorerSettings['type'] | ScorerSettings>({ description: 'A scorer, or just its type.', anyOf: [scorerType, Scorer] }),
  { minItems: 1, maxItems: 20, description: 'Scorers.' },
)
const scorers = Type.Array(Scorer, { description: 'Scorers.' })

const caseFields = {
  expected_output: text('Expected answer: a text, a pattern for regex, a number for number or JSON for json.'),
  expected_sources: Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
    minItems: 1,
    maxItems: 100,
    description: 'Expected documents, by name or id, for the scorers citation and retrieval. Default: expected_output.',
  }),
  memories: Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
    minItems: 1,
    maxItems: 100,
    description: 'Facts that an agent remembers in this test case, instead of stored ones. Nothing is stored.',
  }),
  metadata: jsonObject('Custom fields to group results by.'),
  variables: jsonObject('Values of the variables of the prompt template. They override the variables of the agent.'),
}
const input = nonEmptyText('Question or message to send to the target.', 100_000)
const TestCase = namedObject('TestCase', 'A test case.', { input, ...optional({ ...caseFields, scorers }) })
const TestCaseInput = namedObject('TestCaseInput', 'A test case.', { input, ...optional({ ...caseFields, scorers: scorerInputs }) })

const name = resourceName('evaluation')
const type = stringEnum(EVALUATION_TYPES, { description: 'Type of the target.' })
const example = {
  name: 'Leave questions',
  type: 'agent',
  target_id: 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  test_cases: [{ input: 'How many days of leave do I have?', expected_output: 'twenty-five' }],
}

const runSettings = {
  concurrency: integer('Number of test cases that run at the same time.', { minimum: 1, maximum: 64, default: 4 }),
  repeats: integer('Number of times each test case runs.', { minimum: 1, maximum: 20, default: 1 }),
}

export const Evaluation = resource(
  'evaluation',
  {
    name,
    description: text('Description of the evaluation.', 10_000),
    type,
    target_id: nullable(identifier('the target; null if it was deleted')),
    scorers,
    ...runSettings,
    test_cases: Type.Array(TestCase, { description: 'Test cases.' }),
  },
  {
    description: 'Test cases and scorers for a target.',
    examples: [createExample('eval', { ...example, description: '', scorers: [{ type: 'contains' }], concurrency: 4, repeats: 1 })],
  },
)
const EvaluationItem = namedObject(
  'EvaluationItem',
  'An evaluation in a list.',
  pick(Evaluation.properties, ['id', 'name', 'description', 'type', 'target_id', 'created_at', 'updated_at']),
)

export const MAX_TEST_CASES = 10_000
export const MAX_EVALUATION_BYTES = 8 * 1024 * 1024

const requiredFields = {
  name,
  type,
  target_id: identifier('the target'),
  test_cases: Type.Array(TestCaseInput, { minItems: 1, maxItems: MAX_TEST_CASES, description: 'Test cases.' }),
}
const defaultScorers = { ...scorerInputs, default: [{ type: 'contains' }] } as typeof scorerInputs
const optionalFields = { description: Evaluation.properties.description, scorers: defaultScorers, ...runSettings }
export const EvaluationCreate = createBody('evaluation', requiredFields, optionalFields, example)
const EvaluationUpdate = updateBody(
  'evaluation',
  { ...requiredFields, ...optionalFields },
  { name: 'Leave and travel' },
  ' test_cases replaces all existing test cases.',
)

export const evaluations = createFamily({
  name: 'evaluations',
  noun: 'evaluation',
  prefix: 'eval',
  item: EvaluationItem,
  resource: Evaluation,
  create: EvaluationCreate,
  update: EvaluationUpdate,
})

export const evaluationRoutes = {
  ...createCrudRoutes(evaluations, { read: 'read', change: 'write', bodyLimit: MAX_EVALUATION_BYTES }),
  append: route({
    id: 'evaluations.append',
    family: 'evaluations',
    method: 'POST',
    path: '/evaluations/{id}/test-cases',
    summary: 'Add test cases to an evaluation',
    access: 'write',
    params: idParams('evaluation'),
    body: namedObject('TestCasesCreate', 'Test cases to add.', { test_cases: requiredFields.test_cases }, [
      { test_cases: example.test_cases },
    ]),
    bodyLimit: MAX_EVALUATION_BYTES,
    response: Evaluation,
    changesResource: true,
  }),
}
