/** Deletes events and deliveries after their retention, once a day. */
import type { Clock } from '../async/clock.ts'
import { RecurringTask } from '../async/recurring-task.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../store/database.ts'
import { deleteEventsBefore } from './outbox-store.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Longer than the retry schedule, so that no pending delivery is deleted. */
const RETENTION_MS = 30 * DAY_MS

export function createRetentionTask(database: Database, clock: Clock, logger: Logger): RecurringTask {
  return new RecurringTask(clock, DAY_MS, () =>
    deleteEventsBefore(database, new Date(clock.now() - RETENTION_MS).toISOString()).catch((error: unknown) =>
      logger.error({ err: error }, 'old events could not be deleted'),
    ),
  )
}
