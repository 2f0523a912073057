/** Stores the outcomes of delivery attempts in batches. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Shared } from '../shared-services.ts'
import type { Transaction } from '../store/database.ts'
import { retryWrite } from '../store/remote/retry-write.ts'
import { deliveryRecords, type StoredDelivery } from './outbox-store.ts'
import { GONE } from './send-delivery.ts'
import { type Attempt, settleDelivery } from './settle-delivery.ts'
import { disableWebhook } from './store.ts'

/**
 * Also limits a webhook to 80 deliveries per second, because an attempt occupies its slot until it is stored. A fast receiver
 * would otherwise keep the disk busy while thousands of deliveries are pending.
 */
const BATCH_DELAY_MS = 50

export interface AttemptWriterDependencies extends Shared<'database' | 'logger'> {
  /** Returns a number from 0 to below 1, for the jitter of retries. */
  random: () => number
}

interface FinishedAttempt extends Attempt {
  deliveryId: string
  url: string
}

export type RecordAttempt = (attempt: FinishedAttempt) => Promise<void>

/** The returned function resolves when the outcome is stored. */
export function createAttemptWriter({ database, random, logger }: AttemptWriterDependencies): RecordAttempt {
  const pending: FinishedAttempt[] = []
  let write: Promise<void> | undefined

  async function flush(): Promise<void> {
    await wait(BATCH_DELAY_MS)
    write = undefined
    const batch = pending.splice(0)
    await retryWrite(database, async (transaction) => {
      for (const attempt of batch) await settle(transaction, attempt)
    })
  }

  async function settle(transaction: Transaction, attempt: FinishedAttempt): Promise<void> {
    const delivery = await deliveryRecords.get(transaction, attempt.deliveryId)
    if (!delivery) return // deleted with its webhook
    const updated = settleDelivery(delivery, attempt, random())
    await deliveryRecords.update(transaction, updated)
    if (updated.response_status === GONE) await disableWebhook(transaction, delivery.webhook_id, attempt.url, updated.updated_at)
    logOutcome(updated)
  }

  function logOutcome({ id, webhook_id, event, attempts, status, error }: StoredDelivery): void {
    const details = { delivery: id, webhook: webhook_id, event, attempts, ...(error === null ? {} : { error }) }
    if (status === 'failed') logger.warn(details, 'a webhook delivery failed and will not be retried')
    else logger.debug(details, status === 'delivered' ? 'a webhook was delivered' : 'a webhook delivery failed and will be retried')
  }

  return (attempt) => {
    pending.push(attempt)
    write ??= flush()
    return write
  }
}
