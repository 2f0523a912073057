/** Reads sums of the ledger: whole days and months from stored sums, partial days from calls. */
import type { DatabaseReader } from '../store/database.ts'
import type { DateRange } from '../validation/date-range.ts'
import { type Entity, ORIGIN_FIELDS } from './entities.ts'
import { AMOUNTS, type UsageSums } from './usage-sums.ts'

export type DaySum = UsageSums & { day: string; model_id: string }
type EntitySum = UsageSums & { entity_type: string; entity_id: string }
export type CallSum = DaySum & Record<(typeof ORIGIN_FIELDS)[keyof typeof ORIGIN_FIELDS], string | null>

const SUM_COLUMNS = AMOUNTS.map((name) => `${name === 'cost' ? 'total' : 'sum'}(${name}) AS ${name}`).join(', ')

/** Lists the usage of an entity by day and model. */
export async function listDaySums(reader: DatabaseReader, { type, id }: Entity, { from, until }: DateRange): Promise<DaySum[]> {
  const isModel = type === 'model' && id !== ''
  const [entityType, entityId] = type === 'model' ? ['', ''] : [type, id]
  return reader.all<DaySum>(
    `SELECT day, model_id, ${AMOUNTS.join(', ')} FROM usage_days
     WHERE entity_type = ? AND entity_id = ? AND day >= ? AND day < ?${isModel ? ' AND model_id = ?' : ''}`,
    [entityType, entityId, from, until, ...(isModel ? [id] : [])],
  )
}

/** Lists the usage of each entity of a type, or of all types, in whole months and the days around them. */
export async function listEntitySums(
  reader: DatabaseReader,
  type: string,
  months: DateRange,
  days: readonly DateRange[],
): Promise<EntitySum[]> {
  const condition = type === '' ? "entity_type > ''" : 'entity_type = ?'
  const parts = [
    { table: 'usage_months', time: 'month', span: months },
    ...days.map((span) => ({ table: 'usage_days', time: 'day', span })),
  ]
  const sums = await Promise.all(
    parts.map(({ table, time, span }) =>
      reader.all<EntitySum>(
        `SELECT entity_type, entity_id, ${SUM_COLUMNS} FROM ${table}
         WHERE ${condition} AND entity_id > '' AND ${time} >= ? AND ${time} < ? GROUP BY entity_type, entity_id`,
        [...(type === '' ? [] : [type]), span.from, span.until],
      ),
    ),
  )
  return sums.flat()
}

/** Lists the usage in a partial day by day, model and origin. */
export async function listCallSums(reader: DatabaseReader, { type, id }: Entity, { from, until }: DateRange): Promise<CallSum[]> {
  const column = type === '' ? '' : `${type}_id`
  const condition = column === '' ? '' : id === '' ? ` AND ${column} IS NOT NULL` : ` AND ${column} = ?`
  const groups = ['model_id', ...Object.values(ORIGIN_FIELDS)].join(', ')
  return reader.all<CallSum>(
    `SELECT substr(began_at, 1, 10) AS day, ${groups}, count(*) AS calls, sum(input_tokens) AS input_tokens,
       sum(output_tokens) AS output_tokens, sum(cached_tokens) AS cached_tokens,
       sum(iif(cost IS NULL, input_tokens + output_tokens, 0)) AS unpriced_tokens,
       sum(iif(estimated = 1, input_tokens + output_tokens, 0)) AS estimated_tokens, total(cost) AS cost
     FROM usage_calls WHERE began_at >= ? AND began_at < ? AND status <> 'open'${condition} GROUP BY day, ${groups}`,
    [from, until, ...(condition.endsWith('?') ? [id] : [])],
  )
}
