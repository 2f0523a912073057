/** Formats what was left out of the tables of a knowledge source. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import type { KnowledgeSource } from '../../contract/families/knowledge-sources.ts'
import { type TableList, tableRoutes } from '../../contract/families/tables.ts'
import { paint } from '../terminal/color.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'

/** Documents that are named after a sync. */
const MAX_NAMED = 5

export function formatIncompleteTables(leftOut: TableList['left_out']): string[] {
  if (leftOut.length === 0) return []
  return [
    paint('yellow', `The tables of ${formatCount(leftOut.length, 'document')} are not complete:`),
    ...leftOut.map(({ document, notice }) => `  ${sanitizeLine(document)}: ${sanitizeLine(notice)}`),
  ]
}

/** Names the first documents whose tables are not complete. A failure to list tables is no failure of the sync. */
export async function formatIncompleteTablesAfterSync(
  connection: Connection,
  { id, name, statistics }: KnowledgeSource,
): Promise<string[]> {
  if (statistics.documents === 0) return []
  const { left_out } = await call(connection, tableRoutes.list, { params: { id } }).then(
    ({ data }) => data,
    () => ({ left_out: [] as TableList['left_out'] }),
  )
  const [title, ...lines] = formatIncompleteTables(left_out)
  if (title === undefined) return []
  const more = lines.length - MAX_NAMED
  return [
    title,
    ...lines.slice(0, MAX_NAMED),
    ...(more > 0 ? [paint('dim', `  and ${more} more: cadre knowledge tables list ${quoteShellWord(name)}`)] : []),
  ]
}
