/** Usage of models, its cost, and usage thresholds. */
import { Type } from 'typebox'
import { createBody, createCrudRoutes, createFamily, updateBody } from '../crud.ts'
import { route } from '../route.ts'
import { currency } from '../schemas/currency.ts'
import {
  count,
  createExample,
  identifier,
  measure,
  namedObject,
  nullable,
  object,
  optional,
  resource,
  stringEnum,
  text,
} from '../schemas/fields.ts'

export const ENTITY_TYPES = ['agent', 'model', 'rag_tool', 'prompt_template', 'evaluation', 'user'] as const

export const day = (description: string) =>
  Type.String({
    format: 'iso-date',
    maxLength: 40,
    description: `${description}: a date (UTC), or a date and time with Z or an offset such as +02:00.`,
    examples: ['2026-01-31'],
  })
const entity = {
  entity_type: stringEnum(ENTITY_TYPES, { description: 'Type of the entity.' }),
  entity_id: identifier('the entity'),
}
const query = object(
  optional({
    start_date: day('First day'),
    end_date: day('Last day, inclusive'),
    entity_type: stringEnum(ENTITY_TYPES, { description: 'Type of the entity. Without entity_id: all entities of the type.' }),
    entity_id: identifier('the entity. Without entity_type, the type is derived from the identifier; other identifiers are users'),
  }),
)

const cost = measure('Cost of the tokens with a known price; null if tokens were used and no price is known.')
const unpriced_tokens = count('Tokens without a known price, which are not part of the cost.')
const estimated_tokens = count('Tokens of calls whose provider did not report usage, which are estimates.')
const usage = { tokens: count('Input and output tokens.'), cost, unpriced_tokens, estimated_tokens }
const UsageTotals = namedObject('UsageTotals', 'Tokens and their cost.', usage)
const DailyUsage = namedObject('DailyUsage', 'Tokens of a day and their cost.', { date: day('Day'), ...usage })
/** What both statistics contain. */
const costs = {
  total_cost: cost,
  currency,
  unpriced_tokens,
  estimated_tokens,
  by_model: Type.Record(Type.String(), UsageTotals, { description: 'Usage by model identifier.' }),
  by_entity: Type.Record(Type.String(), Type.Record(Type.String(), UsageTotals), {
    description: 'Usage by type and identifier of the entity; with entity_type, only of that type.',
  }),
}

export const UsageStatistics = namedObject('UsageStatistics', 'Usage in a period.', {
  total_tokens: count('Input and output tokens.'),
  input_tokens: count('Input tokens.'),
  output_tokens: count('Output tokens.'),
  cached_tokens: count('Input tokens that the provider had cached. They have the same price as other input tokens.'),
  calls: count('Number of model calls, including failed and aborted calls.'),
  ...costs,
})
export const UsageCosts = namedObject('UsageCosts', 'Costs in a period.', {
  ...costs,
  by_day: Type.Array(DailyUsage, {
    description: 'Usage per day, oldest first. Days without usage are included unless the period has more than 366 days.',
  }),
})

const name = text('Name of the threshold.', 200)
const requiredFields = {
  metric: stringEnum(['tokens', 'cost'], {
    description:
      'Metric to limit. tokens: input and output of chat and embedding models, embedded and free ones too; ' +
      'cost: cost of calls with a known price, blocks only calls that can cost money.',
  }),
  limit: Type.Number({ minimum: 0, maximum: 1e15, description: 'Limit per period: tokens, or an amount in the currency of the settings.' }),
  period: stringEnum(['day', 'month'], { description: 'Period (UTC).' }),
}
const optionalFields = {
  name,
  entity_type: nullable(entity.entity_type),
  entity_id: nullable(entity.entity_id),
  action: stringEnum(['notify', 'block'], {
    default: 'notify',
    description: 'Action at the limit. notify: send an event; block: also reject further model calls with 402. Calls in progress count.',
  }),
}
const example = {
  name: 'Daily tokens of the helper',
  entity_type: 'agent',
  entity_id: 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  metric: 'tokens',
  limit: 100_000,
  period: 'day',
  action: 'notify',
}

export const UsageThreshold = resource(
  'usage threshold',
  { ...requiredFields, ...optionalFields },
  {
    description:
      'A usage limit for an entity, or for all usage. ' +
      'The event usage.threshold_exceeded is sent once per period, and again only after the limit was raised.',
    examples: [createExample('thr', { ...example })],
  },
)
const UsageThresholdCreate = createBody('usage threshold', requiredFields, optionalFields, example)
const UsageThresholdUpdate = updateBody('usage threshold', { name, ...requiredFields, action: optionalFields.action }, { limit: 200_000 })

export const usageThresholds = createFamily({
  name: 'usage-thresholds',
  noun: 'usage threshold',
  path: '/usage/thresholds',
  prefix: 'thr',
  resource: UsageThreshold,
  create: UsageThresholdCreate,
  update: UsageThresholdUpdate,
})

export const usageRoutes = {
  stats: route({
    id: 'usage.stats',
    family: 'usage',
    method: 'GET',
    path: '/usage/stats',
    summary: 'Get usage statistics',
    access: 'read',
    query,
    response: UsageStatistics,
  }),
  costs: route({
    id: 'usage.costs',
    family: 'usage',
    method: 'GET',
    path: '/usage/costs',
    summary: 'Get costs by model, entity and day',
    access: 'read',
    query,
    response: UsageCosts,
  }),
}
export const usageThresholdRoutes = createCrudRoutes(usageThresholds, { read: 'read', change: 'write' })
