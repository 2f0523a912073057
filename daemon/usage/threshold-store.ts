/** Stores usage thresholds and the notices that were published for them. */
import type { Static } from 'typebox'
import { UsageThreshold } from '../../src/contract/families/usage.ts'
import type { DatabaseReader, Transaction } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredUsageThreshold = Static<typeof UsageThreshold> & StoredRecord

export const usageThresholdRecords = new Records<StoredUsageThreshold>({ table: 'usage_thresholds', schema: UsageThreshold })

/** Increases with every change to a threshold. */
export async function countThresholdChanges(reader: DatabaseReader): Promise<number> {
  return (await reader.get<{ total: number }>('SELECT total FROM usage_threshold_changes'))?.total ?? 0
}

export const listThresholds = (reader: DatabaseReader): Promise<StoredUsageThreshold[]> =>
  reader.all<StoredUsageThreshold>('SELECT * FROM usage_thresholds ORDER BY id')

type Notice = Pick<StoredUsageThreshold, 'id' | 'metric' | 'limit' | 'period'> & { period_start: string }

/** Returns false if an event was already published for this limit, or a higher one, in the period. */
export async function saveNotice(transaction: Transaction, { id, metric, limit, period, period_start }: Notice): Promise<boolean> {
  const saved = await transaction.run(
    `INSERT INTO usage_notices (threshold_id, metric, period, period_start, "limit") VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET "limit" = excluded."limit" WHERE "limit" < excluded."limit"`,
    [id, metric, period, period_start, limit],
  )
  return saved === 1
}
