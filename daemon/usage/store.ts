/** Usage thresholds as they are stored, and which of them have told what. */
import type { Static } from 'typebox'
import { UsageThreshold } from '../../src/contract/families/usage.ts'
import type { Reader, Transaction } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredUsageThreshold = Static<typeof UsageThreshold> & StoredRecord

export const usageThresholdRecords = new Records<StoredUsageThreshold>({ table: 'usage_thresholds', schema: UsageThreshold })

/** Grows whenever a threshold is made, changed or goes. */
export async function countThresholdChanges(reader: Reader): Promise<number> {
  return (await reader.get<{ total: number }>('SELECT total FROM usage_threshold_changes'))?.total ?? 0
}

export const listThresholds = (reader: Reader): Promise<StoredUsageThreshold[]> =>
  reader.all<StoredUsageThreshold>('SELECT * FROM usage_thresholds ORDER BY id')

type Notice = Pick<StoredUsageThreshold, 'id' | 'metric' | 'limit' | 'period'> & { period_start: string }

/** Whether it was told that this line, or a higher one, was crossed in the period. */
export async function wasNotified(reader: Reader, { id, metric, limit, period, period_start }: Notice): Promise<boolean> {
  const found = await reader.get(
    'SELECT 1 FROM usage_notices WHERE threshold_id = ? AND metric = ? AND period = ? AND period_start = ? AND "limit" >= ?',
    [id, metric, period, period_start, limit],
  )
  return found !== undefined
}

export async function insertNotice(transaction: Transaction, { id, metric, limit, period, period_start }: Notice): Promise<void> {
  await transaction.run(
    'INSERT OR REPLACE INTO usage_notices (threshold_id, metric, period, period_start, "limit") VALUES (?, ?, ?, ?, ?)',
    [id, metric, period, period_start, limit],
  )
}
