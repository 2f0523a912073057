/** Stores the outcomes of delivery attempts in batches. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '../logging/logger.ts'
import type { Database, Transaction } from '../store/database.ts'
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

interface FinishedAttempt extends Attempt {
  deliveryId: string
  url: string
}

export class AttemptWriter {
  readonly #database: Database
  readonly #random: () => number
  readonly #logger: Logger
  #pending: FinishedAttempt[] = []
  #write: Promise<void> | undefined

  constructor(database: Database, random: () => number, logger: Logger) {
    this.#database = database
    this.#random = random
    this.#logger = logger
  }

  /** Resolves when the outcome is stored. */
  record(attempt: FinishedAttempt): Promise<void> {
    this.#pending.push(attempt)
    this.#write ??= this.#flush()
    return this.#write
  }

  async #flush(): Promise<void> {
    await wait(BATCH_DELAY_MS)
    this.#write = undefined
    const batch = this.#pending.splice(0)
    await retryWrite(this.#database, async (transaction) => {
      for (const attempt of batch) await this.#settle(transaction, attempt)
    })
  }

  async #settle(transaction: Transaction, attempt: FinishedAttempt): Promise<void> {
    const delivery = await deliveryRecords.get(transaction, attempt.deliveryId)
    if (!delivery) return // deleted with its webhook
    const updated = settleDelivery(delivery, attempt, this.#random())
    await deliveryRecords.update(transaction, updated)
    if (updated.response_status === GONE) await disableWebhook(transaction, delivery.webhook_id, attempt.url, updated.updated_at)
    this.#logOutcome(updated)
  }

  #logOutcome({ id, webhook_id, event, attempts, status, error }: StoredDelivery): void {
    const details = { delivery: id, webhook: webhook_id, event, attempts, ...(error === null ? {} : { error }) }
    if (status === 'failed') this.#logger.warn(details, 'a webhook delivery failed and will not be retried')
    else this.#logger.debug(details, status === 'delivered' ? 'a webhook was delivered' : 'a webhook delivery failed and will be retried')
  }
}
