/** Enforces usage thresholds: blocks calls over the limit and publishes events for exceeded thresholds. */
import { CadreError } from '../../src/contract/errors.ts'
import { isFree, roundMoney } from '../core/compute-cost.ts'
import { readCurrency } from '../core/currency.ts'
import type { EventBus } from '../core/event-bus.ts'
import type { CallOrigin, MeteredModel } from '../core/meter.ts'
import type { Database, DatabaseReader, Transaction } from '../store/database.ts'
import { getPeriod, type Period } from './budget-period.ts'
import { type SpentTotals, sumEarlier, sumSettled } from './daily-sums-store.ts'
import { type Entity, listBudgetEntities } from './entities.ts'
import { sumOpen } from './ledger-store.ts'
import { countThresholdChanges, listThresholds, type StoredUsageThreshold, saveNotice } from './threshold-store.ts'

/** What a call without a limit of its output reserves at least, so that no more than 100 of them can exceed a limit. */
const MIN_RESERVED_SHARE = 0.01

/** A call must wait for the first one. */
export class FirstCallError extends CadreError {
  constructor(threshold: StoredUsageThreshold, currency: string) {
    super(
      'BUDGET_EXCEEDED',
      `The first call under ${describeLimit(threshold, currency)} is still running, and until it has ended nobody knows what a call ` +
        'uses. No model was called.',
      {
        details: [{ field: 'threshold_id', problem: `${threshold.id} allows one call at a time until the first one has ended` }],
        hint: 'Try again when the running call has ended. Calls with max_tokens run at the same time.',
      },
    )
  }
}

export function createBudgetGuard(database: Database, events: EventBus) {
  let cache: { changes: number; thresholds: Map<string, StoredUsageThreshold[]> } = { changes: -1, thresholds: new Map() }

  /**
   * Throws BUDGET_EXCEEDED if a blocking threshold that applies to the call is reached. Open calls count with what they may use:
   * otherwise any number of concurrent calls would pass. Before any call has ended, nobody knows what one uses, so calls without
   * a limit of their output run one at a time. A limit on cost does not apply to calls that cost nothing.
   */
  async function check(reader: DatabaseReader, model: MeteredModel, origin: CallOrigin, at: string): Promise<void> {
    for (const { threshold, entity } of await findThresholds(reader, listBudgetEntities(model.id, origin))) {
      if (threshold.action !== 'block' || (threshold.metric === 'cost' && isFree(model.price))) continue
      const period = getPeriod(threshold.period, at)
      const spent = await sumSettled(reader, entity, period)
      const known = spent.calls > 0 ? spent : await sumEarlier(reader, entity, period)
      const mean = known ? getAmount(threshold, known) / known.calls : 0
      const open = await sumOpen(reader, entity, period, threshold.metric, Math.max(mean, threshold.limit * MIN_RESERVED_SHARE))
      const value = getAmount(threshold, spent)
      if (roundMoney(value + open.amount) >= threshold.limit)
        throw createBudgetError({ threshold, model, value, open: open.calls, period, currency: await readCurrency(reader) })
      if (!known && open.unlimited > 0) throw new FirstCallError(threshold, await readCurrency(reader))
    }
  }

  async function hasBlockingThreshold(reader: DatabaseReader): Promise<boolean> {
    for (const thresholds of (await loadThresholds(reader)).values()) if (thresholds.some(({ action }) => action === 'block')) return true
    return false
  }

  /** Publishes an event for every threshold that a settled call exceeded, once per period, in the transaction that settled it. */
  async function publishExceeded(transaction: Transaction, entities: readonly Entity[], at: string): Promise<void> {
    for (const { threshold, entity } of await findThresholds(transaction, entities)) {
      const period = getPeriod(threshold.period, at)
      const value = getAmount(threshold, await sumSettled(transaction, entity, period))
      if (value < threshold.limit || !(await saveNotice(transaction, { ...threshold, period_start: period.start }))) continue
      const { id, entity_type, entity_id, metric, limit, action } = threshold
      const period_start = `${period.start}T00:00:00.000Z`
      const currency = metric === 'cost' ? { currency: await readCurrency(transaction) } : {}
      const event = {
        threshold_id: id,
        entity_type,
        entity_id,
        metric,
        limit,
        value,
        ...currency,
        period: period.kind,
        period_start,
        action,
      }
      await events.publish(transaction, 'usage.threshold_exceeded', event)
    }
  }

  async function findThresholds(
    reader: DatabaseReader,
    entities: readonly Entity[],
  ): Promise<{ threshold: StoredUsageThreshold; entity: Entity }[]> {
    const thresholds = await loadThresholds(reader)
    return entities.flatMap((entity) =>
      (thresholds.get(formatKey(entity.type, entity.id)) ?? []).map((threshold) => ({ threshold, entity })),
    )
  }

  async function loadThresholds(reader: DatabaseReader): Promise<Map<string, StoredUsageThreshold[]>> {
    const changes = await countThresholdChanges(reader)
    if (changes === cache.changes) return cache.thresholds
    const thresholds = groupByEntity(await listThresholds(reader))
    // Not cached from a transaction: it may be rolled back, and its change number would be reused.
    if (reader === database) cache = { changes, thresholds }
    return thresholds
  }

  return { check, hasBlockingThreshold, publishExceeded }
}

export type BudgetGuard = ReturnType<typeof createBudgetGuard>

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

const formatAmount = (number: number) => number.toLocaleString('en-US', { maximumSignificantDigits: 12 })

function describeLimit({ name, metric, limit, period, entity_type, entity_id }: StoredUsageThreshold, currency: string): string {
  const entity = entity_type === null ? 'all usage' : `the ${entity_type.replace('_', ' ')} "${entity_id}"`
  const quota = `${formatAmount(limit)} ${metric === 'tokens' ? 'tokens' : currency} per ${period}`
  return `the limit${name === '' ? '' : ` "${name}"`} of ${quota} for ${entity}`
}

const COUNTED_TOKENS = 'It counts the input and output of chat and embedding models, embedded and free ones too.'

interface ReachedBudget {
  threshold: StoredUsageThreshold
  model: MeteredModel
  value: number
  /** Number of running calls. */
  open: number
  period: Period
  currency: string
}

function createBudgetError({ threshold, model, value, open, period: { end }, currency }: ReachedBudget): CadreError {
  const { id, limit, metric } = threshold
  const rest = value < limit ? `, the rest reserved by ${open === 1 ? 'one running call' : `${open} running calls`}` : ''
  // Usage may already exceed twice the limit.
  const raisedLimit = 2 * Math.max(limit, value) || 1000
  const description = describeLimit(threshold, currency).replace(/^t/, 'T')
  const used = `${formatAmount(value)}${metric === 'tokens' ? '' : ` ${currency}`}`
  const counted = metric === 'tokens' ? ` ${COUNTED_TOKENS}` : ''
  const update = `cadre usage thresholds update ${id} --limit ${raisedLimit}`
  const free = metric === 'cost' && model.price === null ? ' The price of the model is unknown: if it is free, set its price to 0.' : ''
  return new CadreError('BUDGET_EXCEEDED', `${description} is reached: ${used} used${rest}.${counted} No model was called.`, {
    details: [{ field: 'threshold_id', problem: `${id} blocks until ${end}T00:00:00Z` }],
    hint: `Wait until ${end}T00:00:00Z, or raise or delete the threshold: ${update}.${free}`,
  })
}
