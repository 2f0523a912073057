/** Sends due deliveries, with a limit per webhook and in total. */
import { setTimeout as wait } from 'node:timers/promises'
import { CadreError } from '../../src/contract/errors.ts'
import type { Shared } from '../shared-services.ts'
import { type AttemptWriterDependencies, createAttemptWriter, type RecordAttempt } from './attempt-writer.ts'
import {
  countPendingDeliveries,
  deliveryRecords,
  findEvent,
  listDueDeliveries,
  listPendingWebhooks,
  type StoredEvent,
} from './outbox-store.ts'
import { MAX_DELAY_MS } from './retry-schedule.ts'
import { type AttemptOutcome, sendDelivery } from './send-delivery.ts'
import { openSigningSecrets } from './signing-secrets.ts'
import { type StoredWebhook, webhookRecords } from './store.ts'

/** A receiver that never responds occupies only its own slots. */
const MAX_PER_WEBHOOK = 4
const MAX_CONCURRENT = 64
/** Timers stop while the machine sleeps; this bounds the delay after it wakes. */
const MAX_SLEEP_MS = 5 * 60 * 1000
/** Another daemon may have added a delivery, or ended before it was sent. */
const POLL_INTERVAL_MS = 2_000
/** Pause after an outcome could not be stored. */
const FAILURE_PAUSE_MS = 60 * 1000
/** Attempts that take longer are aborted and repeated after the next start. */
const SHUTDOWN_GRACE_MS = 2_000

export type DispatcherDependencies = AttemptWriterDependencies & Shared<'cluster' | 'vault' | 'outbound' | 'clock' | 'telemetry'>

export class Dispatcher {
  readonly #dependencies: DispatcherDependencies
  readonly #recordAttempt: RecordAttempt
  readonly #active = new Map<string, { webhookId: string; ended: Promise<void> }>()
  readonly #closing = new AbortController()
  #isRunning = false
  #isPolling = false
  #shouldPollAgain = false
  #cancelTimer = () => {}
  /** Ends the search for deliveries of other daemons. */
  #stopPolling = () => {}

  constructor(dependencies: DispatcherDependencies) {
    this.#dependencies = dependencies
    this.#recordAttempt = createAttemptWriter(dependencies)
    dependencies.telemetry.addQueue('webhook_deliveries', () => countPendingDeliveries(dependencies.database))
  }

  start(): void {
    // Signing needs the vault. Deliveries wait for a start with the key.
    if (this.#closing.signal.aborted || this.#dependencies.vault.location === 'locked') return
    this.#isRunning = true
    this.#stopPolling = this.#dependencies.cluster.poll(POLL_INTERVAL_MS, () => this.wake())
    this.wake()
  }

  /** Checks for due deliveries. */
  wake(): void {
    if (!this.#isRunning) return
    this.#shouldPollAgain = true
    if (!this.#isPolling) void this.#poll()
  }

  /** Makes an attempt now, or waits for the running one. */
  deliver(deliveryId: string, webhookId: string): Promise<void> {
    return this.#active.get(deliveryId)?.ended ?? this.#begin(deliveryId, webhookId)
  }

  async close(): Promise<void> {
    this.#isRunning = false
    this.#stopPolling()
    this.#cancelTimer()
    const ended = Promise.allSettled([...this.#active.values()].map(({ ended }) => ended))
    await Promise.race([ended, wait(SHUTDOWN_GRACE_MS, undefined, { ref: false })])
    this.#closing.abort(
      new CadreError('UNAVAILABLE', 'The daemon is stopping.', { hint: 'The delivery is repeated after the next start.' }),
    )
    await ended
  }

  async #poll(): Promise<void> {
    this.#isPolling = true
    try {
      while (this.#shouldPollAgain && this.#isRunning) {
        this.#shouldPollAgain = false
        this.#cancelTimer()
        await this.#sendDue()
      }
    } catch (error) {
      this.#dependencies.logger.error({ err: error }, 'due webhook deliveries could not be read')
      this.#sleep(FAILURE_PAUSE_MS)
    } finally {
      this.#isPolling = false
    }
  }

  async #sendDue(): Promise<void> {
    const { database, clock } = this.#dependencies
    const pending = await listPendingWebhooks(database, this.#listActive())
    const now = clock.now()
    const iso = new Date(now).toISOString()
    const latest = new Date(now + MAX_DELAY_MS).toISOString()
    // Webhooks with the fewest running attempts come first, so that slow receivers do not delay others.
    const due = pending
      .filter(({ due }) => due <= iso || due > latest)
      .sort((a, b) => this.#countActive(a.webhook_id) - this.#countActive(b.webhook_id))
    for (const { webhook_id, due: earliest } of due) {
      const room = Math.min(MAX_PER_WEBHOOK - this.#countActive(webhook_id), MAX_CONCURRENT - this.#active.size)
      if (room <= 0) continue
      for (const id of await listDueDeliveries(database, webhook_id, earliest > latest ? earliest : iso, this.#listActive(), room)) {
        if (!this.#isRunning || this.#active.has(id)) continue
        this.#begin(id, webhook_id).catch(() => undefined) // logged by #begin
        // The next due time must be computed without the running attempts.
        this.#shouldPollAgain = true
      }
    }
    const next = pending.map((webhook) => Date.parse(webhook.due)).filter((time) => time > now)
    if (next.length > 0) this.#sleep(Math.min(...next, now + MAX_SLEEP_MS) - now)
  }

  #sleep(milliseconds: number): void {
    this.#cancelTimer()
    if (this.#isRunning) this.#cancelTimer = this.#dependencies.clock.schedule(Math.min(milliseconds, MAX_SLEEP_MS), () => this.wake())
  }

  #listActive = (): string[] => [...this.#active.keys()]

  #countActive(webhookId: string): number {
    return [...this.#active.values()].filter((attempt) => attempt.webhookId === webhookId).length
  }

  #begin(id: string, webhookId: string): Promise<void> {
    const attempted = this.#claim(id)
    const ended = attempted.then(() => undefined)
    this.#active.set(id, { webhookId, ended })
    const done = () => {
      this.#active.delete(id)
      this.wake()
    }
    const handle = (isMine: boolean) => {
      // Another daemon sends it. If that daemon ends before it is done, the delivery is still due.
      if (isMine) done()
      else this.#dependencies.clock.schedule(POLL_INTERVAL_MS, done)
    }
    attempted.then(handle, (error: unknown) => {
      if (this.#closing.signal.aborted) return done()
      this.#dependencies.logger.error(
        { err: error, delivery: id, webhook: webhookId },
        'the outcome of a webhook delivery could not be stored',
      )
      // Delayed: the receiver may already have the event and gets it again.
      this.#dependencies.clock.schedule(FAILURE_PAUSE_MS, done)
    })
    return ended
  }

  /** Returns false if another daemon is sending the delivery. */
  async #claim(id: string): Promise<boolean> {
    const { leases } = this.#dependencies.cluster
    const lease = `delivery/${id}`
    if (!(await leases.claim(lease))) return false
    try {
      await this.#deliver(id)
    } finally {
      await leases.release(lease)
    }
    return true
  }

  async #deliver(id: string): Promise<void> {
    const { database, clock } = this.#dependencies
    const delivery = await deliveryRecords.get(database, id)
    const webhook = delivery && (await webhookRecords.get(database, delivery.webhook_id))
    if (!webhook || delivery.next_attempt_at === null) return // both may have changed since the query
    const event = await findEvent(database, delivery.event_id)
    if (!event) throw new Error(`The event of the delivery ${id} does not exist.`)
    const startedAt = clock.now()
    const outcome = await this.#attempt(webhook, event, startedAt)
    await this.#recordAttempt({ deliveryId: id, url: webhook.url, outcome, begun: startedAt, ended: clock.now() })
  }

  async #attempt(webhook: StoredWebhook, event: StoredEvent, now: number): Promise<AttemptOutcome> {
    let secrets: string[]
    try {
      secrets = openSigningSecrets(this.#dependencies.vault, webhook, now)
    } catch (error) {
      return { status: null, body: null, error: (error as Error).message, latencyMs: 0 }
    }
    const { outbound, telemetry } = this.#dependencies
    const { signal } = this.#closing
    const getOutcome = ({ error }: AttemptOutcome) => (error === null ? 'success' : 'failed')
    const options = { attributes: { 'cadre.webhook.id': webhook.id, 'cadre.event.type': event.type }, isRoot: true, signal, getOutcome }
    return telemetry.measure('webhook_delivery', options, () => sendDelivery(outbound, { webhook, secrets, event, now, signal }))
  }
}
