/** Usage thresholds as they are stored. */
import type { Static } from 'typebox'
import { UsageThreshold } from '../../src/contract/usage.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredUsageThreshold = Static<typeof UsageThreshold> & StoredRecord

export const usageThresholdRecords = new Records<StoredUsageThreshold>({ table: 'usage_thresholds', schema: UsageThreshold })
