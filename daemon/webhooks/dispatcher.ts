/** Sends what waits in the outbox: at its time, a few at once, and never more to one receiver than leaves room for the others. */
import { setTimeout as wait } from 'node:timers/promises'
import { CadreError } from '../../src/contract/errors.ts'
import type { Clock } from '../async/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Outbound } from '../outbound/client.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database } from '../store/database.ts'
import { attempt, type Outcome } from './attempt.ts'
import { deliveryRecords, dueDeliveries, eventOfId, type StoredEvent, waitingWebhooks } from './outbox-store.ts'
import { signingSecrets } from './secrets.ts'
import { Settlements } from './settlements.ts'
import { type StoredWebhook, webhookRecords } from './store.ts'

/** A receiver that never answers holds its own places for 15 s each, and there are many more for the others. */
const MOST_AT_ONE_WEBHOOK = 4
const MOST_AT_ONCE = 64
/** A machine that sleeps stops its timers and not its clock: this is by how much a delivery can then come late. */
const LONGEST_SLEEP_MS = 5 * 60 * 1000
/** What could not even be written down is left alone for so long. */
const PAUSE_MS = 60 * 1000
/** How long a stop waits for attempts under way; one that takes longer is made again after the start. */
const LAST_ATTEMPTS_MS = 2_000

export interface DispatcherParts {
  database: Database
  vault: Vault
  outbound: Outbound
  clock: Clock
  /** From 0 to below 1: how much of the jitter a retry gets. */
  random: () => number
  logger: Logger
}

export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #settlements: Settlements
  readonly #underWay = new Map<string, { webhookId: string; ended: Promise<void> }>()
  readonly #closing = new AbortController()
  #running = false
  #looking = false
  #lookAgain = false
  #callOffTimer = () => {}

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#settlements = new Settlements(parts.database, parts.random, parts.logger)
  }

  /** Takes up what is due, also what was left when the daemon stopped. */
  start(): void {
    // Without secrets nothing can be signed; it all waits for a start with the key.
    if (this.#closing.signal.aborted || this.#parts.vault.location === 'locked') return
    this.#running = true
    this.wake()
  }

  /** Says that there may be something to send. */
  wake(): void {
    if (!this.#running) return
    this.#lookAgain = true
    if (!this.#looking) void this.#look()
  }

  /** Makes an attempt now, or waits for the one under way. */
  deliver(deliveryId: string, webhookId: string): Promise<void> {
    return this.#underWay.get(deliveryId)?.ended ?? this.#begin(deliveryId, webhookId)
  }

  /** Attempts under way end within a moment, or are given up and stay due. */
  async close(): Promise<void> {
    this.#running = false
    this.#callOffTimer()
    const ended = Promise.allSettled([...this.#underWay.values()].map(({ ended }) => ended))
    const enough = new AbortController()
    await Promise.race([ended, wait(LAST_ATTEMPTS_MS, undefined, { signal: enough.signal })])
    enough.abort()
    this.#closing.abort(
      new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'The delivery is made when it is started again.' }),
    )
    await ended
  }

  async #look(): Promise<void> {
    this.#looking = true
    try {
      while (this.#lookAgain && this.#running) {
        this.#lookAgain = false
        this.#callOffTimer()
        await this.#sendDue()
      }
    } catch (error) {
      this.#parts.logger.error({ err: error }, 'the outbox of webhooks cannot be read')
      this.#sleep(PAUSE_MS)
    } finally {
      this.#looking = false
    }
  }

  async #sendDue(): Promise<void> {
    const { database, clock } = this.#parts
    const waiting = await waitingWebhooks(database, this.#ids())
    const now = clock.now()
    const iso = new Date(now).toISOString()
    // Those with least under way come first: whoever is slow waits for itself.
    const due = waiting.filter((webhook) => webhook.due <= iso).sort((a, b) => this.#busy(a.webhook_id) - this.#busy(b.webhook_id))
    for (const { webhook_id } of due) {
      const room = Math.min(MOST_AT_ONE_WEBHOOK - this.#busy(webhook_id), MOST_AT_ONCE - this.#underWay.size)
      if (room <= 0) continue
      for (const id of await dueDeliveries(database, webhook_id, iso, this.#ids(), room)) {
        if (!this.#running || this.#underWay.has(id)) continue
        this.#begin(id, webhook_id).catch(() => undefined) // told in the log
        // What is due next is only known without those that are under way.
        this.#lookAgain = true
      }
    }
    const next = waiting.map((webhook) => Date.parse(webhook.due)).filter((time) => time > now)
    if (next.length > 0) this.#sleep(Math.min(...next) - now)
  }

  #sleep(milliseconds: number): void {
    this.#callOffTimer()
    if (this.#running) this.#callOffTimer = this.#parts.clock.schedule(Math.min(milliseconds, LONGEST_SLEEP_MS), () => this.wake())
  }

  #ids = (): string[] => [...this.#underWay.keys()]

  #busy(webhookId: string): number {
    return [...this.#underWay.values()].filter((one) => one.webhookId === webhookId).length
  }

  #begin(id: string, webhookId: string): Promise<void> {
    const ended = this.#deliver(id)
    this.#underWay.set(id, { webhookId, ended })
    const done = () => {
      this.#underWay.delete(id)
      this.wake()
    }
    ended.then(done, (error: unknown) => {
      if (this.#closing.signal.aborted) return done()
      this.#parts.logger.error({ err: error, delivery: id, webhook: webhookId }, 'what came of a webhook could not be written down')
      // Not at once: the receiver may have it, and gets it again.
      this.#parts.clock.schedule(PAUSE_MS, done)
    })
    return ended
  }

  async #deliver(id: string): Promise<void> {
    const { database, clock } = this.#parts
    const delivery = await deliveryRecords.get(database, id)
    const webhook = delivery && (await webhookRecords.get(database, delivery.webhook_id))
    if (!webhook || delivery.next_attempt_at === null) return // both may have changed since it was found
    const event = await eventOfId(database, delivery.event_id)
    if (!event) throw new Error(`The event of ${id} is gone.`)
    const begun = clock.now()
    const outcome = await this.#attempt(webhook, event, begun)
    await this.#settlements.record({ deliveryId: id, url: webhook.url, outcome, begun, ended: clock.now() })
  }

  async #attempt(webhook: StoredWebhook, event: StoredEvent, now: number): Promise<Outcome> {
    let secrets: string[]
    try {
      secrets = signingSecrets(this.#parts.vault, webhook, now)
    } catch (error) {
      return { status: null, body: null, error: (error as Error).message, latencyMs: 0 }
    }
    return attempt(this.#parts.outbound, { webhook, secrets, event, now, signal: this.#closing.signal })
  }
}
