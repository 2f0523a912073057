/** What was used and what it cost: in all, by model, by entity and by day. */
import type { Static } from 'typebox'
import type { UsageCosts, UsageStatistics } from '../../src/contract/families/usage.ts'
import { roundMoney } from '../core/meter.ts'
import type { Database } from '../store/database.ts'
import { type DateRange, listSeriesDays, parseDateRange, splitWholeDays, splitWholeMonths } from '../validation/date-range.ts'
import { type Amounts, NOTHING, plus } from './amounts.ts'
import { type Entity, type EntityType, kindOf, ORIGINS } from './entities.ts'
import { type CallSum, type DaySum, sumsByDay, sumsByEntity, sumsOfPiece } from './statistics-store.ts'

export interface UsageQuery {
  start_date?: string
  end_date?: string
  entity_type?: EntityType
  entity_id?: string
}

type Spent = Static<typeof UsageCosts>['by_model'][string]
type ByEntity = Map<string, Map<string, Amounts>>

interface Found {
  span: DateRange
  days: DaySum[]
  by_entity: Record<string, Record<string, Spent>>
}

export class UsageReports {
  readonly #database: Database
  readonly #now: () => Date

  constructor(database: Database, now: () => Date) {
    this.#database = database
    this.#now = now
  }

  async statistics(query: UsageQuery): Promise<Static<typeof UsageStatistics>> {
    const { days, by_entity } = await this.#find(query)
    const all = added(days)
    const { tokens, cost, unpriced_tokens } = spent(all)
    const { calls, input_tokens, output_tokens, cached_tokens } = all
    return {
      total_tokens: tokens,
      input_tokens,
      output_tokens,
      cached_tokens,
      calls,
      total_cost: cost,
      unpriced_tokens,
      by_model: shown(grouped(days, 'model_id')),
      by_entity,
    }
  }

  async costs(query: UsageQuery): Promise<Static<typeof UsageCosts>> {
    const { span, days, by_entity } = await this.#find(query)
    const { cost: total_cost, unpriced_tokens } = spent(added(days))
    const byDay = grouped(days, 'day')
    const dates = listSeriesDays(span, [...byDay.keys()].sort(), this.#now().toISOString())
    const by_day = dates.map((date) => ({ date, ...spent(byDay.get(date) ?? NOTHING) }))
    return { total_cost, unpriced_tokens, by_model: shown(grouped(days, 'model_id')), by_entity, by_day }
  }

  async #find({ entity_type, entity_id, ...dates }: UsageQuery): Promise<Found> {
    const entity: Entity = { type: entity_type ?? (entity_id === undefined ? '' : kindOf(entity_id)), id: entity_id ?? '' }
    const span = parseDateRange(dates)
    const { days: whole, pieces } = splitWholeDays(span)
    const { months, days: beside } = splitWholeMonths(whole)
    // Asked for in one go, so that nothing is counted between them and all sums agree.
    const [ofDays, ofEntities, ofPieces] = await Promise.all([
      sumsByDay(this.#database, entity, whole),
      needsEntities(entity) ? sumsByEntity(this.#database, entity.type, months, beside) : [],
      Promise.all(pieces.map((piece) => sumsOfPiece(this.#database, entity, piece))),
    ])
    const calls = ofPieces.flat()
    const days = [...ofDays, ...calls]
    const entities: ByEntity = new Map()
    for (const sum of ofEntities) count(entities, sum.entity_type, sum.entity_id, sum)
    if (needsEntities(entity)) for (const call of calls) countOrigins(entities, call, entity.type)
    else if (entity.type !== 'model' && days.length > 0) entities.set(entity.type, new Map([[entity.id, added(days)]]))
    if (entity.type === 'model' || entity.type === '') entities.set('model', grouped(days, 'model_id'))
    const by_entity = Object.fromEntries([...entities].filter(([, found]) => found.size > 0).map(([type, found]) => [type, shown(found)]))
    return { span, days, by_entity }
  }
}

/** One entity's own sum is known from its days, and so is a model's. */
const needsEntities = ({ type, id }: Entity) => type !== 'model' && id === ''

function countOrigins(entities: ByEntity, call: CallSum, only: string): void {
  for (const [type, field] of Object.entries(ORIGINS)) {
    const id = call[field]
    if (id !== null && (only === '' || only === type)) count(entities, type, id, call)
  }
}

function count(entities: ByEntity, type: string, id: string, sum: Amounts): void {
  const kind = entities.get(type) ?? new Map<string, Amounts>()
  entities.set(type, kind.set(id, plus(kind.get(id) ?? NOTHING, sum)))
}

const added = (sums: readonly Amounts[]): Amounts => sums.reduce(plus, NOTHING)

function grouped(sums: readonly DaySum[], field: 'day' | 'model_id'): Map<string, Amounts> {
  const found = new Map<string, Amounts>()
  for (const sum of sums) found.set(sum[field], plus(found.get(sum[field]) ?? NOTHING, sum))
  return found
}

function spent({ input_tokens, output_tokens, unpriced_tokens, cost }: Amounts): Spent {
  const tokens = input_tokens + output_tokens
  return { tokens, cost: tokens > 0 && unpriced_tokens === tokens ? null : roundMoney(cost), unpriced_tokens }
}

const shown = (sums: Map<string, Amounts>): Record<string, Spent> => Object.fromEntries([...sums].map(([id, sum]) => [id, spent(sum)]))
