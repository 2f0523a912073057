/** Formats the result of a question over a table: the result, how it was computed, and the first rows that were used. */

import { formatNumber } from '../../tables/cells/format-value.ts'
import { formatYearMonth } from '../../tables/cells/parse-cell.ts'
import type { Computation } from '../../tables/computation.ts'
import type { SqlValue } from '../../tables/typed-table.ts'
import { escapeReferences } from './format-answer.ts'

/** More values are shown as a list. */
const MAX_BOLD_VALUES = 3
const MAX_LISTED_VALUES = 50
const MAX_COLUMNS = 8
const MAX_CELL_LENGTH = 60
/** Of averages and sums of groups. */
const SHOWN_DIGITS = 2

export function formatComputations(computations: readonly Computation[]): string {
  const parts = computations.map(formatComputation)
  return computations.length > 1 ? ['The question can be read in more than one way.', ...parts].join('\n\n') : (parts[0] ?? '')
}

function formatComputation(computation: Computation): string {
  const citation = computation.citation === undefined ? '' : ` [${computation.citation}]`
  const interpretation = `${escapeReferences(computation.interpretation)}${citation}`
  // A list of rows shows them already.
  const rows = isRowList(computation) ? [] : formatRowsUsed(computation)
  return [formatResult(computation), interpretation, ...rows].join('\n\n')
}

const isRowList = ({ header, resultHeader }: Computation) => header.length === resultHeader.length

function formatResult(computation: Computation): string {
  const { values, result, resultHeader } = computation
  if (resultHeader.length > 0 && (result.length > 1 || isRowList(computation))) return formatResultTable(computation)
  if (resultHeader.length > 0) return `**${escapeReferences(values.join(', '))}** (${formatCell(result[0]?.[1] ?? null)})`
  if (values.length <= MAX_BOLD_VALUES) return `**${escapeReferences(values.join(', '))}**`
  const more = values.length > MAX_LISTED_VALUES ? [`… and ${values.length - MAX_LISTED_VALUES} more`] : []
  const shown = values.slice(0, MAX_LISTED_VALUES)
  return [`**${values.length} values**`, ...[...shown, ...more].map((value) => `- ${escapeReferences(value)}`)].join('\n')
}

function formatResultTable(computation: Computation): string {
  const { result, resultHeader } = computation
  const columns = isRowList(computation) ? selectColumns(computation) : [...resultHeader.keys()]
  const table = formatTable(
    columns.map((column) => resultHeader[column] ?? ''),
    result.slice(0, MAX_LISTED_VALUES).map((row) => columns.map((column) => formatMonthCell(row[column] ?? null, resultHeader[column]))),
  )
  const noun = isRowList(computation) ? 'row' : 'group'
  const count = `**${result.length} ${result.length === 1 ? noun : `${noun}s`}**`
  return [count, table, ...(result.length > MAX_LISTED_VALUES ? [`… and ${result.length - MAX_LISTED_VALUES} more`] : [])].join('\n\n')
}

/** The months of groups are written as people write them. */
const formatMonthCell = (value: SqlValue, header = ''): SqlValue =>
  typeof value === 'string' && header.endsWith('(month)') ? formatYearMonth(value) : value

/** Returns the columns that the query used, and others while there is room, in their order. */
function selectColumns({ header, usedColumns }: Computation): number[] {
  const byUse = new Set([...usedColumns, ...header.keys()])
  return [...byUse].slice(0, MAX_COLUMNS).sort((a, b) => a - b)
}

function formatRowsUsed(computation: Computation): string[] {
  const { header, rowsUsed, rowCount, document } = computation
  if (rowsUsed.length === 0) return []
  const columns = selectColumns(computation)
  const count = rowCount > rowsUsed.length ? `The first ${rowsUsed.length} of ${rowCount} rows used` : 'Rows used'
  return [
    `${count}, of ${escapeReferences(document)}:`,
    formatTable(
      ['Row', ...columns.map((column) => header[column] ?? '')],
      rowsUsed.map(([row, ...cells]) => [row ?? null, ...columns.map((column) => cells[column] ?? null)]),
    ),
  ]
}

const formatTable = (header: readonly string[], rows: readonly (readonly SqlValue[])[]): string =>
  [
    `| ${header.map((name) => formatCell(name)).join(' | ')} |`,
    `|${header.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.map(formatCell).join(' | ')} |`),
  ].join('\n')

function formatCell(value: SqlValue): string {
  if (value === null) return ''
  if (typeof value === 'number') return formatNumber(value, Math.abs(value) >= 1 ? SHOWN_DIGITS : undefined)
  const text = value.length > MAX_CELL_LENGTH ? `${value.slice(0, MAX_CELL_LENGTH)}…` : value
  return escapeReferences(text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' '))
}
