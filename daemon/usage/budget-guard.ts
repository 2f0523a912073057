/** Enforces usage thresholds: blocks calls over the limit and publishes events for exceeded thresholds. */
import { CadreError } from '../../src/contract/errors.ts'
import type { EventBus } from '../core/event-bus.ts'
import { roundMoney } from '../core/meter.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import type { Entity } from './entities.ts'
import { type SpentTotals, sumOpen, sumSettled } from './ledger-store.ts'
import { getPeriod, type Period } from './period.ts'
import { countThresholdChanges, listThresholds, type StoredUsageThreshold, saveNotice } from './store.ts'

export class BudgetGuard {
  readonly #database: Database
  readonly #events: EventBus
  #cache: { changes: number; thresholds: Map<string, StoredUsageThreshold[]> } = { changes: -1, thresholds: new Map() }

  constructor(database: Database, events: EventBus) {
    this.#database = database
    this.#events = events
  }

  /**
   * Throws BUDGET_EXCEEDED if a blocking threshold of one of the entities is reached. Open calls count with their estimate, or with
   * the mean of the period's calls if that is more: otherwise any number of concurrent calls would pass.
   */
  async check(reader: Reader, entities: readonly Entity[], at: string): Promise<void> {
    for (const { threshold, entity } of await this.#findThresholds(reader, entities)) {
      if (threshold.action !== 'block') continue
      const period = getPeriod(threshold.period, at)
      const spent = await sumSettled(reader, entity, period)
      const mean = { tokens: spent.tokens / Math.max(spent.calls, 1), cost: spent.cost / Math.max(spent.calls, 1) }
      const open = await sumOpen(reader, entity, period, mean)
      const value = getAmount(threshold, spent)
      if (roundMoney(value + getAmount(threshold, open)) >= threshold.limit) throw createBudgetError(threshold, value, open.calls, period)
    }
  }

  async hasBlockingThreshold(reader: Reader): Promise<boolean> {
    for (const thresholds of (await this.#loadThresholds(reader)).values())
      if (thresholds.some(({ action }) => action === 'block')) return true
    return false
  }

  /** Publishes an event for every threshold that a settled call exceeded, once per period, in the transaction that settled it. */
  async publishExceeded(transaction: Transaction, entities: readonly Entity[], at: string): Promise<void> {
    for (const { threshold, entity } of await this.#findThresholds(transaction, entities)) {
      const period = getPeriod(threshold.period, at)
      const value = getAmount(threshold, await sumSettled(transaction, entity, period))
      if (value < threshold.limit || !(await saveNotice(transaction, { ...threshold, period_start: period.start }))) continue
      const { id, entity_type, entity_id, metric, limit, action } = threshold
      const period_start = `${period.start}T00:00:00.000Z`
      const event = { threshold_id: id, entity_type, entity_id, metric, limit, value, period: period.kind, period_start, action }
      await this.#events.publish(transaction, 'usage.threshold_exceeded', event)
    }
  }

  async #findThresholds(reader: Reader, entities: readonly Entity[]): Promise<{ threshold: StoredUsageThreshold; entity: Entity }[]> {
    const thresholds = await this.#loadThresholds(reader)
    return entities.flatMap((entity) =>
      (thresholds.get(formatKey(entity.type, entity.id)) ?? []).map((threshold) => ({ threshold, entity })),
    )
  }

  async #loadThresholds(reader: Reader): Promise<Map<string, StoredUsageThreshold[]>> {
    const changes = await countThresholdChanges(reader)
    if (changes === this.#cache.changes) return this.#cache.thresholds
    const thresholds = groupByEntity(await listThresholds(reader))
    // Not cached from a transaction: it may be rolled back, and its change number would be reused.
    if (reader === this.#database) this.#cache = { changes, thresholds }
    return thresholds
  }
}

const formatKey = (type: string | null, id: string | null) => `${type ?? ''} ${id ?? ''}`
const getAmount = ({ metric }: StoredUsageThreshold, { tokens, cost }: SpentTotals) => (metric === 'tokens' ? tokens : roundMoney(cost))

function groupByEntity(thresholds: readonly StoredUsageThreshold[]): Map<string, StoredUsageThreshold[]> {
  const groups = new Map<string, StoredUsageThreshold[]>()
  for (const threshold of thresholds) {
    const key = formatKey(threshold.entity_type, threshold.entity_id)
    groups.set(key, [...(groups.get(key) ?? []), threshold])
  }
  return groups
}

function createBudgetError(
  { id, name, metric, limit, period, entity_type, entity_id }: StoredUsageThreshold,
  value: number,
  open: number,
  { end }: Period,
): CadreError {
  const entity = entity_type === null ? 'all usage' : `the ${entity_type.replace('_', ' ')} "${entity_id}"`
  const format = (number: number) => number.toLocaleString('en-US', { maximumSignificantDigits: 12 })
  const quota = `${format(limit)} ${metric === 'tokens' ? 'tokens' : 'in cost'} per ${period}`
  const rest = value < limit ? `, the rest reserved by ${open === 1 ? 'one running call' : `${open} running calls`}` : ''
  // Usage may already exceed twice the limit.
  const raisedLimit = 2 * Math.max(limit, value) || 1000
  return new CadreError(
    'BUDGET_EXCEEDED',
    `The limit${name === '' ? '' : ` "${name}"`} of ${quota} for ${entity} is reached: ${format(value)} used${rest}. No model was called.`,
    {
      details: [{ field: 'threshold_id', problem: `${id} blocks until ${end}T00:00:00Z` }],
      hint: `Wait until ${end}T00:00:00Z, or raise or delete the threshold: cadre usage thresholds update ${id} --limit ${raisedLimit}.`,
    },
  )
}
