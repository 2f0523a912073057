/** Flags, titles and display names shared by the usage and analytics reports. */
import { integer } from '@oclif/core/flags'
import type { Connection } from '../../client/request.ts'
import type { Kind } from '../resources/resource-kinds.ts'
import { fetchNamesOfKind } from '../resources/resource-names.ts'
import type { Row } from '../terminal/table.ts'
import type { EntityFilter } from './entity-flags.ts'
import type { Costs, Names } from './format-usage.ts'
import type { ReportPeriod } from './period-flags.ts'

export const reportFlags = { top: integer({ min: 1, default: 10, description: 'Maximum rows per chart.' }) }

export const formatTitle = ({ title }: ReportPeriod, whose: EntityFilter): string =>
  whose.title === '' ? title : `${title}, ${whose.title}`

type UsageTotals = Pick<Costs, 'by_model' | 'by_entity'>

/** Users have no name, only an identifier. */
const NAMED_KINDS: readonly Kind[] = ['model', 'agent', 'rag_tool', 'prompt_template', 'evaluation']

/** Fetches the names of the top entities of each kind. */
export async function fetchNames(connection: Connection, { by_model, by_entity }: UsageTotals, top: number): Promise<Names> {
  const by: UsageTotals['by_entity'] = { ...by_entity, model: by_model }
  const most = (kind: Kind) => Object.entries(by[kind] ?? {}).sort(([, one], [, other]) => other.tokens - one.tokens)
  const found = await Promise.all(
    NAMED_KINDS.map((kind) =>
      fetchNamesOfKind(
        connection,
        kind,
        most(kind)
          .slice(0, top)
          .map(([id]) => id),
      ),
    ),
  )
  return new Map(found.flatMap((names) => [...names]))
}

/** Lists one row per entity, for CSV. */
export function listUsageRows({ by_model, by_entity }: UsageTotals, names: Names): Row[] {
  const by: UsageTotals['by_entity'] = { model: by_model, ...by_entity }
  return Object.entries(by).flatMap(([type, spent]) =>
    Object.entries(spent).map(([id, sum]) => ({ type, id, name: names.get(id) ?? '', ...sum })),
  )
}
