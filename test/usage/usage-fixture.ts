/** A usage meter with its own database, a clock that tests set and a list of published events. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventBus } from '../../daemon/core/event-bus.ts'
import type { CallOrigin, CallUsage, MeteredModel } from '../../daemon/core/meter.ts'
import { type Database, openDatabase, type Row } from '../../daemon/store/database.ts'
import { migrate } from '../../daemon/store/migrate.ts'
import { UsageMeter } from '../../daemon/usage/usage-meter.ts'
import type { CadreError } from '../../src/contract/errors.ts'
import type { WebhookEventData } from '../../src/contract/webhook-events.ts'

export const PRICED: MeteredModel = { id: 'model_priced', price: { input: 0.5, output: 1.5 } }
export const FREE: MeteredModel = { id: 'model_free', price: { input: 0, output: 0 } }
export const UNPRICED: MeteredModel = { id: 'model_unpriced', price: null }

type ThresholdEvent = WebhookEventData['usage.threshold_exceeded']
type ThresholdFields = { metric?: string; limit: number; period?: string; action?: string; entity?: [type: string, id: string] }

export class TestLedger {
  readonly #root = mkdtempSync(join(tmpdir(), 'cadre-usage-'))
  #thresholds = 0
  database!: Database
  meter!: UsageMeter
  clock = new Date('2026-01-31T09:30:00.000Z')
  published: ThresholdEvent[] = []

  static async open(): Promise<TestLedger> {
    const ledger = new TestLedger()
    await ledger.#start()
    return ledger
  }

  /** Creates a new meter on the same database, as after a kill. */
  async restart(): Promise<number> {
    await this.database.close()
    await this.#start()
    return this.meter.recover()
  }

  async #start(): Promise<void> {
    this.database = openDatabase(join(this.#root, 'cadre.db'))
    await migrate(this.database)
    const events = new EventBus()
    events.on('usage.threshold_exceeded', async (_, told) => void this.published.push(told))
    this.meter = new UsageMeter({ database: this.database, events, now: () => this.clock })
  }

  begin(origin: CallOrigin = {}, model = PRICED, estimatedInput = 10, maxOutput: number | null = null): Promise<string> {
    return this.database.write((transaction) => this.meter.begin(transaction, { model, kind: 'chat', origin, estimatedInput, maxOutput }))
  }

  settle(entry: string, input_tokens: number, output_tokens: number, more: Partial<CallUsage> = {}): Promise<number | null> {
    return this.database.write((transaction) =>
      this.meter.settle(transaction, entry, { input_tokens, output_tokens, status: 'done', estimated: false, ...more }),
    )
  }

  /** Records and settles a call. */
  async recordCall(input: number, output: number, origin: CallOrigin = {}, model = PRICED): Promise<number | null> {
    return this.settle(await this.begin(origin, model), input, output)
  }

  async addThreshold({ metric = 'tokens', limit, period = 'day', action = 'notify', entity }: ThresholdFields): Promise<string> {
    const id = `thr_${++this.#thresholds}`
    await this.database.write((transaction) =>
      transaction.run(
        `INSERT INTO usage_thresholds (id, entity_type, entity_id, metric, "limit", period, action, created_at, updated_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [id, entity?.[0] ?? null, entity?.[1] ?? null, metric, limit, period, action, '2026-01-01', '2026-01-01'],
      ),
    )
    return id
  }

  execute(sql: string, values: (string | number)[] = []): Promise<number> {
    return this.database.write((transaction) => transaction.run(sql, values))
  }

  listDays(): Promise<Row[]> {
    return this.database.all(
      'SELECT entity_type, entity_id, day, model_id, calls, input_tokens, output_tokens, cost FROM usage_days ORDER BY 1, 2, 3, 4',
    )
  }

  async getRejection(asked: Promise<unknown>): Promise<CadreError | undefined> {
    return asked.then(
      () => undefined,
      (error: CadreError) => error,
    )
  }

  async close(): Promise<void> {
    await this.database.close()
    rmSync(this.#root, { recursive: true, force: true })
  }
}
