/** Sums of the ledger, as they are read: whole days from what was summed up, pieces of days call by call. */

import type { Reader } from '../store/database.ts'
import type { DateRange } from '../validation/date-range.ts'
import { type Entity, ORIGIN_FIELDS } from './entities.ts'
import type { UsageAmounts } from './usage-amounts.ts'

export type DaySum = UsageAmounts & { day: string; model_id: string }
export type EntitySum = UsageAmounts & { entity_type: string; entity_id: string }
export type CallSum = DaySum & Record<(typeof ORIGIN_FIELDS)[keyof typeof ORIGIN_FIELDS], string | null>

const SUM_COLUMNS =
  'sum(calls) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(cached_tokens) AS cached_tokens, sum(unpriced_tokens) AS unpriced_tokens, total(cost) AS cost'

/** What an entity used, by day and model. */
export async function listDaySums(reader: Reader, { type, id }: Entity, { from, until }: DateRange): Promise<DaySum[]> {
  const ofModel = type === 'model' && id !== ''
  const [whose, which] = type === 'model' ? ['', ''] : [type, id]
  return reader.all<DaySum>(
    `SELECT day, model_id, calls, input_tokens, output_tokens, cached_tokens, unpriced_tokens, cost FROM usage_days WHERE entity_type = ? AND entity_id = ? AND day >= ? AND day < ?${ofModel ? ' AND model_id = ?' : ''}`,
    [whose, which, from, until, ...(ofModel ? [id] : [])],
  )
}

/** What each entity used, of one kind or of all: in the months, and in the days beside them. */
export async function listEntitySums(reader: Reader, type: string, months: DateRange, days: readonly DateRange[]): Promise<EntitySum[]> {
  const kind = type === '' ? "entity_type > ''" : 'entity_type = ?'
  const parts = [
    { table: 'usage_months', time: 'month', span: months },
    ...days.map((span) => ({ table: 'usage_days', time: 'day', span })),
  ]
  const found = await Promise.all(
    parts.map(({ table, time, span }) =>
      reader.all<EntitySum>(
        `SELECT entity_type, entity_id, ${SUM_COLUMNS} FROM ${table} WHERE ${kind} AND entity_id > '' AND ${time} >= ? AND ${time} < ? GROUP BY entity_type, entity_id`,
        [...(type === '' ? [] : [type]), span.from, span.until],
      ),
    ),
  )
  return found.flat()
}

/** What was used in a piece of a day, by day, model and everybody it was for. */
export async function listCallSums(reader: Reader, { type, id }: Entity, { from, until }: DateRange): Promise<CallSum[]> {
  const column = type === '' ? '' : `${type}_id`
  const whose = column === '' ? '' : id === '' ? ` AND ${column} IS NOT NULL` : ` AND ${column} = ?`
  const groups = ['model_id', ...Object.values(ORIGIN_FIELDS)].join(', ')
  return reader.all<CallSum>(
    `SELECT substr(began_at, 1, 10) AS day, ${groups}, count(*) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(cached_tokens) AS cached_tokens, sum(iif(cost IS NULL, input_tokens + output_tokens, 0)) AS unpriced_tokens, total(cost) AS cost FROM usage_calls WHERE began_at >= ? AND began_at < ? AND status <> 'open'${whose} GROUP BY day, ${groups}`,
    [from, until, ...(whose.endsWith('?') ? [id] : [])],
  )
}
