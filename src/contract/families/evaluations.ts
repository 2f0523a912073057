/** Evaluations: test cases for an agent, a tool, a prompt or a model, and how their answers are scored. */
import { Type } from 'typebox'
import { crud, type Family, idParams } from '../crud.ts'
import { route } from '../route.ts'
import { identifier, jsonObject, nullable, object, optional, resource, resourceName, stringEnum, text } from '../schemas/fields.ts'

export const EVALUATION_TYPES = ['agent', 'rag_tool', 'prompt_template', 'model'] as const
export const SCORERS = [
  'exact',
  'contains',
  'regex',
  'json',
  'similarity',
  'token_f1',
  'llm_judge',
  'citation',
  'retrieval',
  'latency',
  'cost',
] as const

const scorerType = stringEnum(SCORERS, { description: 'How an answer is scored.' })
const Scorer = object({
  type: scorerType,
  ...optional({
    threshold: Type.Number({
      minimum: 0,
      description:
        'Least score that passes, from 0 to 1. For latency the most milliseconds and for cost the most that pass; without one they are only measured.',
    }),
    k: Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Among how many passages retrieval looks for the expected source; all that came back when left out.',
    }),
    metric: stringEnum(['hit', 'mrr'], {
      default: 'hit',
      description: 'What retrieval scores: whether an expected source is there, or one over its rank.',
    }),
    model_id: identifier(
      "the model that judges, or the provider's own name for it, or its name, where that is unique; the default model when left out",
    ),
    instructions: text('What the judge is told.', 20_000),
  }),
})
export interface ScorerSettings {
  type: (typeof SCORERS)[number]
  threshold?: number
  k?: number
  metric?: 'hit' | 'mrr'
  model_id?: string
  instructions?: string
}
const scorerInputs = Type.Array(
  Type.Unsafe<ScorerSettings['type'] | ScorerSettings>({ description: 'A scorer, or just its name.', anyOf: [scorerType, Scorer] }),
  { minItems: 1, maxItems: 20, description: 'Scorers; contains when left out.' },
)
const scorers = Type.Array(Scorer, { description: 'How answers are scored.' })

const caseFields = {
  expected_output: text('What a good answer is or holds; a pattern for regex, JSON for json.'),
  expected_sources: Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
    minItems: 1,
    maxItems: 100,
    description: 'Documents, by name or id, that citation and retrieval look for; expected_output when left out.',
  }),
  metadata: jsonObject('Anything you want to group results by.'),
  variables: jsonObject("Values for the variables of the prompt template that is asked, or of the agent's; they go over the agent's own."),
}
const input = Type.String({ minLength: 1, maxLength: 100_000, description: 'What is asked.' })
const TestCase = object({ input, ...optional({ ...caseFields, scorers }) })
const TestCaseInput = object({ input, ...optional({ ...caseFields, scorers: scorerInputs }) })

const name = resourceName('evaluation')
const type = stringEnum(EVALUATION_TYPES, { description: 'What is evaluated.' })
const example = {
  name: 'Leave questions',
  type: 'agent',
  target_id: 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  test_cases: [{ input: 'How many days of leave do I have?', expected_output: 'twenty-five' }],
}

const pace = {
  concurrency: Type.Integer({ minimum: 1, maximum: 64, default: 4, description: 'Test cases that run at the same time.' }),
  repeats: Type.Integer({ minimum: 1, maximum: 20, default: 1, description: 'How often each test case runs.' }),
}

export const Evaluation = resource(
  'evaluation',
  {
    name,
    description: text('What it checks.', 10_000),
    type,
    target_id: nullable(identifier('what is evaluated; null once it was deleted')),
    scorers,
    ...pace,
    test_cases: Type.Array(TestCase, { description: 'What is asked, and what is expected.' }),
  },
  {
    description: 'Test cases and how their answers are scored.',
    examples: [
      {
        id: 'eval_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        ...example,
        description: '',
        scorers: [{ type: 'contains' }],
        concurrency: 4,
        repeats: 1,
        created_at: '2026-01-31T09:30:00.000Z',
        updated_at: '2026-01-31T09:30:00.000Z',
      },
    ],
  },
)
const { id, created_at, updated_at, ...rest } = Evaluation.properties
export const EvaluationItem = object(
  { id, name, description: rest.description, type, target_id: rest.target_id, created_at, updated_at },
  { description: 'An evaluation as lists show it.' },
)

export const MAX_TEST_CASES = 10_000
/** Bytes: so many test cases of a paragraph each. */
export const MAX_EVALUATION_BYTES = 8 * 1024 * 1024

const needed = {
  name,
  type,
  target_id: identifier('what is evaluated'),
  test_cases: Type.Array(TestCaseInput, { minItems: 1, maxItems: MAX_TEST_CASES, description: 'What is asked, and what is expected.' }),
}
const settings = { description: rest.description, scorers: scorerInputs, ...pace }
export const EvaluationCreate = object({ ...needed, ...optional(settings) }, { description: 'A new evaluation.', examples: [example] })
export const EvaluationUpdate = object(optional({ ...needed, ...settings }), {
  description: 'What to change of an evaluation; test_cases replace all of the old ones.',
  minProperties: 1,
  examples: [{ name: 'Leave and travel' }],
})

export const evaluations = {
  name: 'evaluations',
  noun: 'evaluation',
  path: '/evaluations',
  prefix: 'eval',
  item: EvaluationItem,
  resource: Evaluation,
  create: EvaluationCreate,
  update: EvaluationUpdate,
} satisfies Family

export const evaluationRoutes = {
  ...crud(evaluations, { read: 'read', change: 'change', bodyLimit: MAX_EVALUATION_BYTES }),
  append: route({
    id: 'evaluations.append',
    family: 'evaluations',
    method: 'POST',
    path: '/evaluations/{id}/test-cases',
    summary: 'Add test cases to an evaluation',
    access: 'change',
    params: idParams('evaluation'),
    body: object({ test_cases: needed.test_cases }, { examples: [{ test_cases: example.test_cases }] }),
    bodyLimit: MAX_EVALUATION_BYTES,
    response: Evaluation,
  }),
}
