/** Stores the usage of each entity per day and month: sums that settled calls are added to, and that budgets read. */
import { type DatabaseReader, runLater, type Transaction } from '../store/database.ts'
import type { Period } from './budget-period.ts'
import type { Entity } from './entities.ts'
import type { LedgerCall } from './ledger-store.ts'
import { AMOUNTS, type UsageSums } from './usage-sums.ts'

export interface SpentTotals {
  calls: number
  tokens: number
  cost: number
}

const SUM_TABLES = [
  { table: 'usage_days', time: 'day', length: 10 },
  { table: 'usage_months', time: 'month', length: 7 },
] as const

/** Adds a settled call to the entities' sums of its day and month. */
export async function addToSums(
  transaction: Transaction,
  entities: readonly Entity[],
  { began_at, model_id }: LedgerCall,
  amounts: UsageSums,
): Promise<void> {
  const values = AMOUNTS.map((name) => amounts[name])
  const rows = entities.map(() => `(?, ?, ?, ?, ${values.map(() => '?').join(', ')})`).join(', ')
  const updates = AMOUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')
  for (const { table, time, length } of SUM_TABLES)
    await runLater(
      transaction,
      `INSERT INTO ${table} (entity_type, entity_id, ${time}, model_id, ${AMOUNTS.join(', ')}) VALUES ${rows}
       ON CONFLICT DO UPDATE SET ${updates}`,
      entities.flatMap(({ type, id }) => [type, id, began_at.slice(0, length), model_id, ...values]),
    )
}

/** The sums of an entity; those of a model are part of the sums of everything. The last value is the beginning of the period. */
function selectSums(entity: Entity, { kind, start }: Pick<Period, 'kind' | 'start'>) {
  const { table, time, length } = SUM_TABLES[kind === 'day' ? 0 : 1]
  const isModel = entity.type === 'model'
  const from = `FROM ${table} WHERE entity_type = ? AND entity_id = ?${isModel ? ' AND model_id = ?' : ''}`
  const values = [...(isModel ? ['', ''] : [entity.type]), entity.id, start.slice(0, length)]
  return { from, time, values }
}

/** Sums the settled calls of an entity in a period. */
export async function sumSettled(
  reader: DatabaseReader,
  entity: Entity,
  { kind, start }: Pick<Period, 'kind' | 'start'>,
): Promise<SpentTotals> {
  const { from, time, values } = selectSums(entity, { kind, start })
  const totals = await reader.get<SpentTotals>(
    `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(input_tokens + output_tokens), 0) AS tokens, total(cost) AS cost
     ${from} AND ${time} = ?`,
    values,
  )
  return totals ?? { calls: 0, tokens: 0, cost: 0 }
}

/** Sums the calls of the last earlier period of the same length that has any. */
export async function sumEarlier(reader: DatabaseReader, entity: Entity, period: Period): Promise<SpentTotals | undefined> {
  const { from, time, values } = selectSums(entity, period)
  const earlier = await reader.get<{ time: string }>(`SELECT max(${time}) AS time ${from} AND ${time} < ?`, values)
  return earlier?.time ? sumSettled(reader, entity, { kind: period.kind, start: earlier.time }) : undefined
}
