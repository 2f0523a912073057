/** Formats usage thresholds with a bar that shows how much of each is used. */
import type { Static } from 'typebox'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { type UsageThreshold, usageRoutes } from '../../contract/families/usage.ts'
import { formatMoney } from '../../contract/schemas/currency.ts'
import { fetchNames } from '../resources/resource-names.ts'
import { formatBar } from '../terminal/bar-chart.ts'
import { type Color, paint } from '../terminal/color.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import type { Output, Row } from '../terminal/table.ts'
import { padEnd, sanitizeLine, stringWidth, truncate } from '../terminal/text.ts'
import type { Names, Statistics } from './format-usage.ts'

type Threshold = Static<typeof UsageThreshold>
type Period = Threshold['period']

const BAR_COLUMNS = 16
const INDENT = '  '
const WARNING_SHARE = 0.8

/** Formats two lines per threshold: its name (or ID) and action, then its usage. */
export async function formatThresholds(connection: Connection, rows: readonly Row[], output: Output): Promise<string> {
  const thresholds = rows as unknown as Threshold[]
  const entityIds = thresholds.flatMap(({ entity_id }) => entity_id ?? [])
  const [usage, names] = await Promise.all([fetchUsage(connection, thresholds), fetchNames(connection, entityIds)])
  return thresholds.flatMap((threshold) => formatThreshold(threshold, usage[threshold.period], names, output)).join('\n')
}

/** Fetches the usage of all entities, one request per period regardless of the number of thresholds. */
async function fetchUsage(connection: Connection, thresholds: readonly Threshold[]): Promise<Partial<Record<Period, Statistics>>> {
  const today = new Date().toISOString().slice(0, 10)
  const starts = { day: today, month: `${today.slice(0, 8)}01` }
  const periods = [...new Set(thresholds.map(({ period }) => period))]
  const entries = periods.map(
    async (period) => [period, (await call(connection, usageRoutes.stats, { query: { start_date: starts[period] } })).data] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}

function getUsedAmount({ entity_type, entity_id, metric }: Threshold, usage: Statistics | undefined): number {
  if (!usage) return 0
  if (entity_type === null || entity_id === null) return (metric === 'tokens' ? usage.total_tokens : usage.total_cost) ?? 0
  const totals = entity_type === 'model' ? usage.by_model : (usage.by_entity[entity_type] ?? {})
  return totals[entity_id]?.[metric] ?? 0
}

function formatThreshold(threshold: Threshold, usage: Statistics | undefined, names: Names, { columns, stream }: Output): string[] {
  const { id, name, metric, limit, period, action, entity_type, entity_id } = threshold
  const used = getUsedAmount(threshold, usage)
  const currency = usage?.currency
  const share = limit > 0 ? used / limit : 1
  const color: Color = share >= 1 ? 'red' : share >= WARNING_SHARE ? 'yellow' : 'green'
  const entity =
    entity_type === null ? 'everything' : `${entity_type.replace('_', ' ')} ${sanitizeLine(names.get(entity_id ?? '') ?? entity_id ?? '')}`
  const amount =
    metric === 'tokens'
      ? `${formatCount(used)} of ${formatCount(limit)} tokens`
      : `${formatMoney(used, currency)} of ${formatMoney(limit, currency)}`
  const figures = `${formatPercent(share)}  ${amount} ${period === 'day' ? 'today' : 'this month'}`
  const bar = paint(color, padEnd(formatBar(share, BAR_COLUMNS), BAR_COLUMNS), stream)
  const availableColumns = columns - INDENT.length - BAR_COLUMNS - stringWidth(figures) - 4
  return [
    `${paint('bold', sanitizeLine(name) || id, stream)}  ${paint('dim', action === 'block' ? 'blocks calls' : 'notifies only', stream)}`,
    `${INDENT}${bar}  ${figures}  ${truncate(entity, Math.max(10, availableColumns))}`,
  ]
}

const formatPercent = (share: number) => `${formatCount(Math.floor(share * 100))} %`.padStart(5)
