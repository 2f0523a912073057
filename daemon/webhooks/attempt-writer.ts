/** What came of attempts, written down: those that end at about the same time share a transaction, so that many deliveries leave room for everything else. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '../logging/logger.ts'
import type { Database, Transaction } from '../store/database.ts'
import { deliveryRecords, type StoredDelivery } from './outbox-store.ts'
import { getNextAttempt } from './retry-schedule.ts'
import { type AttemptOutcome, GONE } from './send-delivery.ts'
import { disableWebhook } from './store.ts'

/**
 * For so long the first of them waits for others, and keeps its place meanwhile. That paces a webhook to 80 deliveries a second:
 * a receiver as quick as can be would otherwise keep the disk, and all who read, busy until ten thousand are through.
 */
const BATCH_DELAY_MS = 50
/** Of a delivery that was asked for again and again, the latest attempts are kept. */
const MAX_HISTORY = 50

export interface FinishedAttempt {
  deliveryId: string
  /** Where it was sent. */
  url: string
  outcome: AttemptOutcome
  /** When the attempt began, and when it ended. */
  begun: number
  ended: number
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

  /** Resolves when it is on disk. */
  record(settlement: FinishedAttempt): Promise<void> {
    this.#pending.push(settlement)
    this.#write ??= this.#flush()
    return this.#write
  }

  async #flush(): Promise<void> {
    await wait(BATCH_DELAY_MS)
    this.#write = undefined
    const gathered = this.#pending.splice(0)
    await this.#database.write(async (transaction) => {
      for (const settlement of gathered) await this.#store(transaction, settlement)
    })
  }

  async #store(transaction: Transaction, { deliveryId, url, outcome, begun, ended }: FinishedAttempt): Promise<void> {
    const delivery = await deliveryRecords.get(transaction, deliveryId)
    if (!delivery) return // it went with its webhook
    const at = new Date(begun).toISOString()
    const { status, error, body, latencyMs } = outcome
    const step = delivery.step + 1
    const next = error === null || status === GONE ? undefined : getNextAttempt(step, ended, this.#random())
    const settled: StoredDelivery = {
      ...delivery,
      status: error === null ? 'delivered' : next === undefined ? 'failed' : 'pending',
      attempts: delivery.attempts + 1,
      step,
      response_status: status,
      response_body: body,
      error,
      last_attempt_at: at,
      next_attempt_at: next === undefined ? null : new Date(next).toISOString(),
      history: [...delivery.history, { at, response_status: status, error, latency_ms: latencyMs }].slice(-MAX_HISTORY),
      updated_at: new Date(ended).toISOString(),
    }
    await deliveryRecords.update(transaction, settled)
    if (status === GONE) await disableWebhook(transaction, delivery.webhook_id, url, settled.updated_at)
    this.#logOutcome(settled)
  }

  #logOutcome({ id, webhook_id, event, attempts, status, error }: StoredDelivery): void {
    const about = { delivery: id, webhook: webhook_id, event, attempts, ...(error === null ? {} : { error }) }
    if (status === 'failed') this.#logger.warn(about, 'a webhook was not delivered, and is not tried again')
    else this.#logger.debug(about, status === 'delivered' ? 'a webhook was delivered' : 'a webhook was not delivered')
  }
}
