/** Flags, titles and display names shared by the usage and analytics reports. */
import { integer } from '@oclif/core/flags'
import type { Connection } from '../../client/request.ts'
import { fetchNames } from '../resources/resource-names.ts'
import type { Row } from '../terminal/table.ts'
import { type Costs, type Names, sortTotals } from './format-usage.ts'

export const reportFlags = { top: integer({ min: 1, default: 10, description: 'Maximum rows per chart.' }) }

export const formatTitle = (period: { title: string }, entity: { title: string }): string =>
  entity.title === '' ? period.title : `${period.title}, ${entity.title}`

type UsageTotals = Pick<Costs, 'by_model' | 'by_entity'>

/** Fetches the names of the top entities of each type. Users have no name. */
export async function fetchTopNames(connection: Connection, { by_model, by_entity }: UsageTotals, top: number): Promise<Names> {
  const ids = [by_model, ...Object.values(by_entity)].flatMap((totals) =>
    sortTotals(totals)
      .slice(0, top)
      .map(([id]) => id),
  )
  return fetchNames(connection, ids)
}

/** Lists one row per entity, for CSV. */
export function listUsageRows({ by_model, by_entity, currency }: UsageTotals & Pick<Costs, 'currency'>, names: Names): Row[] {
  const by: UsageTotals['by_entity'] = { model: by_model, ...by_entity }
  return Object.entries(by).flatMap(([type, totals]) =>
    Object.entries(totals).map(([id, total]) => ({ type, id, name: names.get(id) ?? '', ...total, currency })),
  )
}
