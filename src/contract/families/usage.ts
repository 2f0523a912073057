/** Usage: what models cost, by whom, and the thresholds that watch over it. */
import { Type } from 'typebox'
import { crud, type Family } from '../crud.ts'
import { route } from '../route.ts'
import { identifier, nullable, object, optional, resource, stringEnum } from '../schemas/fields.ts'

export const ENTITY_TYPES = ['agent', 'model', 'rag_tool', 'prompt_template', 'evaluation', 'user'] as const

export const day = (description: string) =>
  Type.String({
    format: 'iso-date',
    maxLength: 40,
    description: `${description}: a date (UTC), or a date and time with Z or an offset such as +02:00.`,
    examples: ['2026-01-31'],
  })
const entity = {
  entity_type: stringEnum(ENTITY_TYPES, { description: 'What kind of thing used it.' }),
  entity_id: identifier('the thing that used it'),
}
const asked = {
  entity_type: stringEnum(ENTITY_TYPES, { description: 'What kind of thing used it; without entity_id all of that kind.' }),
  entity_id: identifier('the thing that used it; without entity_type, its kind is read from the identifier, which else is that of a user'),
}
const period = { start_date: day('First day'), end_date: day('Last day, included') }

const count = (description: string) => Type.Integer({ minimum: 0, description })
const cost = (whose: string) =>
  nullable(
    Type.Number({
      minimum: 0,
      description: `What ${whose} cost, as far as prices are known; null where none is known though tokens were used.`,
    }),
  )
const spent = {
  tokens: count('Tokens in and out.'),
  cost: cost('they'),
  unpriced_tokens: count('Of the tokens, those that the cost leaves out because their price is not known.'),
}
const Spent = object(spent)
const total_cost = cost('it')
const unpriced_tokens = spent.unpriced_tokens
const by_model = Type.Record(Type.String(), Spent, { description: 'By model identifier.' })
const by_entity = Type.Record(Type.String(), Type.Record(Type.String(), Spent), {
  description: 'By kind of entity and identifier; with entity_type, only that kind.',
})

export const UsageStatistics = object({
  total_tokens: count('Tokens in and out.'),
  input_tokens: count('Tokens read.'),
  output_tokens: count('Tokens written.'),
  cached_tokens: count(
    'Of the tokens read, those that the provider had read before. They cost what other tokens read cost: prices know no other.',
  ),
  calls: count('Calls of models, also those that failed or were aborted.'),
  total_cost,
  unpriced_tokens,
  by_model,
  by_entity,
})
export const UsageCosts = object({
  total_cost,
  unpriced_tokens,
  by_model,
  by_entity,
  by_day: Type.Array(object({ date: day('The day'), ...spent }), {
    description: 'Oldest first; days without usage too, unless that makes more than 366.',
  }),
})

const needed = {
  metric: stringEnum(['tokens', 'cost'], { description: 'What is counted; cost leaves out calls whose price is not known.' }),
  limit: Type.Number({ minimum: 0, maximum: 1e15, description: 'Where the line is.' }),
  period: stringEnum(['day', 'month'], { description: 'When counting starts again (UTC).' }),
}
const settings = {
  entity_type: nullable(entity.entity_type),
  entity_id: nullable(entity.entity_id),
  action: stringEnum(['notify', 'block'], {
    default: 'notify',
    description: 'Tell, or refuse further calls with 402 as well; calls under way count too.',
  }),
}
const example = {
  entity_type: 'agent',
  entity_id: 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  metric: 'tokens',
  limit: 100_000,
  period: 'day',
  action: 'notify',
}

export const UsageThreshold = resource(
  'usage threshold',
  { ...needed, ...settings },
  {
    description:
      'A line that usage should not cross; without an entity it counts everything. Crossing it is told once a period (usage.threshold_exceeded), and again only if the limit was raised meanwhile.',
    examples: [
      {
        id: 'thr_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        ...example,
        created_at: '2026-01-31T09:30:00.000Z',
        updated_at: '2026-01-31T09:30:00.000Z',
      },
    ],
  },
)
export const UsageThresholdCreate = object({ ...needed, ...optional(settings) }, { description: 'A new threshold.', examples: [example] })
export const UsageThresholdUpdate = object(optional({ ...needed, action: settings.action }), {
  description: 'What to change of a threshold.',
  minProperties: 1,
  examples: [{ limit: 200_000 }],
})

export const usageThresholds = {
  name: 'usage-thresholds',
  noun: 'usage threshold',
  path: '/usage/thresholds',
  prefix: 'thr',
  item: UsageThreshold,
  resource: UsageThreshold,
  create: UsageThresholdCreate,
  update: UsageThresholdUpdate,
} satisfies Family

export const usageRoutes = {
  stats: route({
    id: 'usage.stats',
    family: 'usage',
    method: 'GET',
    path: '/usage/stats',
    summary: 'Tokens and cost',
    access: 'read',
    query: object(optional({ ...period, ...asked })),
    response: UsageStatistics,
  }),
  costs: route({
    id: 'usage.costs',
    family: 'usage',
    method: 'GET',
    path: '/usage/costs',
    summary: 'Cost by model, entity and day',
    access: 'read',
    query: object(optional({ ...period, ...asked })),
    response: UsageCosts,
  }),
}
export const usageThresholdRoutes = crud(usageThresholds, { read: 'read', change: 'change' })
