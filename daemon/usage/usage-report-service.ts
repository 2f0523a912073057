/** Reports usage and cost: in total, by model, by entity and by day. */
import type { Static } from 'typebox'
import type { UsageCosts, UsageStatistics, usageRoutes } from '../../src/contract/families/usage.ts'
import { roundMoney } from '../core/compute-cost.ts'
import { readCurrency } from '../core/currency.ts'
import type { Database } from '../store/database.ts'
import { type DateRange, listSeriesDays, parseDateRange, splitWholeDays, splitWholeMonths } from '../validation/date-range.ts'
import { detectEntityType, type Entity, ORIGIN_FIELDS } from './entities.ts'
import { type CallSum, type DaySum, listCallSums, listDaySums, listEntitySums } from './usage-report-store.ts'
import { addSums, type UsageSums, ZERO_USAGE } from './usage-sums.ts'

type UsageQuery = Static<typeof usageRoutes.stats.query>
type SpendReport = Static<typeof UsageCosts>['by_model'][string]
type EntityUsage = Map<string, Map<string, UsageSums>>

interface UsageRows {
  span: DateRange
  days: DaySum[]
  by_entity: Record<string, Record<string, SpendReport>>
}

export function createUsageReportService(database: Database, now: () => Date) {
  async function getStatistics(query: UsageQuery): Promise<Static<typeof UsageStatistics>> {
    const { days, by_entity } = await loadRows(query)
    const total = sumUsage(days)
    const { tokens, cost, unpriced_tokens, estimated_tokens } = toSpend(total)
    const { calls, input_tokens, output_tokens, cached_tokens } = total
    return {
      total_tokens: tokens,
      input_tokens,
      output_tokens,
      cached_tokens,
      calls,
      total_cost: cost,
      currency: await readCurrency(database),
      unpriced_tokens,
      estimated_tokens,
      by_model: toView(groupBy(days, 'model_id')),
      by_entity,
    }
  }

  async function getCosts(query: UsageQuery): Promise<Static<typeof UsageCosts>> {
    const { span, days, by_entity } = await loadRows(query)
    const { cost: total_cost, unpriced_tokens, estimated_tokens } = toSpend(sumUsage(days))
    const byDay = groupBy(days, 'day')
    const dates = listSeriesDays(span, [...byDay.keys()].sort(), now().toISOString())
    const by_day = dates.map((date) => ({ date, ...toSpend(byDay.get(date) ?? ZERO_USAGE) }))
    const [currency, by_model] = [await readCurrency(database), toView(groupBy(days, 'model_id'))]
    return { total_cost, currency, unpriced_tokens, estimated_tokens, by_model, by_entity, by_day }
  }

  async function loadRows({ entity_type, entity_id, ...dates }: UsageQuery): Promise<UsageRows> {
    const entity: Entity = { type: entity_type ?? (entity_id === undefined ? '' : detectEntityType(entity_id)), id: entity_id ?? '' }
    const span = parseDateRange(dates)
    const { days: wholeDays, pieces } = splitWholeDays(span)
    const { months, days: remainingDays } = splitWholeMonths(wholeDays)
    // Started together, so that no call is settled in between and all sums agree.
    const [daySums, entitySums, partialDays] = await Promise.all([
      listDaySums(database, entity, wholeDays),
      needsEntities(entity) ? listEntitySums(database, entity.type, months, remainingDays) : [],
      Promise.all(pieces.map((piece) => listCallSums(database, entity, piece))),
    ])
    const calls = partialDays.flat()
    const days = [...daySums, ...calls]
    const entities: EntityUsage = new Map()
    for (const sum of entitySums) addUsage(entities, sum.entity_type, sum.entity_id, sum)
    if (needsEntities(entity)) for (const call of calls) countOrigins(entities, call, entity.type)
    else if (entity.type !== 'model' && days.length > 0) entities.set(entity.type, new Map([[entity.id, sumUsage(days)]]))
    if (entity.type === 'model' || entity.type === '') entities.set('model', groupBy(days, 'model_id'))
    const by_entity = Object.fromEntries([...entities].filter(([, sums]) => sums.size > 0).map(([type, sums]) => [type, toView(sums)]))
    return { span, days, by_entity }
  }

  return { getStatistics, getCosts }
}

export type UsageReportService = ReturnType<typeof createUsageReportService>

/** The sums of one entity and of models follow from the days. */
const needsEntities = ({ type, id }: Entity) => type !== 'model' && id === ''

function countOrigins(entities: EntityUsage, call: CallSum, only: string): void {
  for (const [type, field] of Object.entries(ORIGIN_FIELDS)) {
    const id = call[field]
    if (id !== null && (only === '' || only === type)) addUsage(entities, type, id, call)
  }
}

function addUsage(entities: EntityUsage, type: string, id: string, sum: UsageSums): void {
  const sums = entities.get(type) ?? new Map<string, UsageSums>()
  entities.set(type, sums.set(id, addSums(sums.get(id) ?? ZERO_USAGE, sum)))
}

const sumUsage = (sums: readonly UsageSums[]): UsageSums => sums.reduce(addSums, ZERO_USAGE)

function groupBy(sums: readonly DaySum[], field: 'day' | 'model_id'): Map<string, UsageSums> {
  const groups = new Map<string, UsageSums>()
  for (const sum of sums) groups.set(sum[field], addSums(groups.get(sum[field]) ?? ZERO_USAGE, sum))
  return groups
}

function toSpend({ input_tokens, output_tokens, unpriced_tokens, estimated_tokens, cost }: UsageSums): SpendReport {
  const tokens = input_tokens + output_tokens
  return { tokens, cost: tokens > 0 && unpriced_tokens === tokens ? null : roundMoney(cost), unpriced_tokens, estimated_tokens }
}

const toView = (sums: Map<string, UsageSums>): Record<string, SpendReport> =>
  Object.fromEntries([...sums].map(([id, sum]) => [id, toSpend(sum)]))
