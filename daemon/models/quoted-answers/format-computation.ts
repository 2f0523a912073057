/** Formats the result of a question over a table: the result, how it was computed, and the first rows that were used. */
import type { Computation } from '../../tables/computation.ts'
import type { SqlValue } from '../../tables/typed-table.ts'
import { escapeReferences } from './format-blocks.ts'

/** More values are shown as a list. */
const MAX_BOLD_VALUES = 3
const MAX_LISTED_VALUES = 50
const MAX_COLUMNS = 8
const MAX_CELL_LENGTH = 60

export function formatComputations(computations: readonly Computation[]): string {
  const parts = computations.map(formatComputation)
  const text = computations.length > 1 ? ['The question can be read in more than one way.', ...parts].join('\n\n') : (parts[0] ?? '')
  return computations.some(({ isUncertain }) => isUncertain) ? `Probably: ${text}` : text
}

function formatComputation(computation: Computation): string {
  const citation = computation.citation === undefined ? '' : ` [${computation.citation}]`
  const interpretation = `${escapeReferences(computation.interpretation)}${citation}`
  // A list of rows shows them already.
  const rows = isRowList(computation) ? [] : formatRowsUsed(computation)
  return [formatResult(computation), interpretation, ...rows].join('\n\n')
}

const isRowList = ({ header, resultHeader }: Computation) =>
  header.length === resultHeader.length && header.every((name, column) => name === resultHeader[column])

function formatResult(computation: Computation): string {
  const { cells, resultHeader } = computation
  if (cells.length === 0) return '**none**'
  const isTable = resultHeader.length > 0
  if (isTable && (cells.length > 1 || isRowList(computation))) return formatResultTable(computation)
  const names = cells.map(([name = '']) => escapeReferences(name)).filter((name) => name !== '')
  if (isTable) return `**${names.join(', ')}** (${formatCell(cells[0]?.at(-1) ?? null)})`
  if (names.length <= MAX_BOLD_VALUES) return `**${names.join(', ') || 'none'}**`
  const more = names.length > MAX_LISTED_VALUES ? [`… and ${names.length - MAX_LISTED_VALUES} more`] : []
  return [`**${names.length} values**`, ...[...names.slice(0, MAX_LISTED_VALUES), ...more].map((value) => `- ${value}`)].join('\n')
}

function formatResultTable(computation: Computation): string {
  const { cells, resultHeader } = computation
  const columns = isRowList(computation) ? selectColumns(computation) : [...resultHeader.keys()]
  const table = formatTable(
    columns.map((column) => resultHeader[column] ?? ''),
    cells.slice(0, MAX_LISTED_VALUES).map((row) => columns.map((column) => row[column] ?? null)),
  )
  const noun = isRowList(computation) ? 'row' : 'result'
  const count = `**${cells.length} ${cells.length === 1 ? noun : `${noun}s`}**`
  return [count, table, ...(cells.length > MAX_LISTED_VALUES ? [`… and ${cells.length - MAX_LISTED_VALUES} more`] : [])].join('\n\n')
}

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
  if (typeof value === 'number') return String(value)
  const text = value.length > MAX_CELL_LENGTH ? `${value.slice(0, MAX_CELL_LENGTH)}…` : value
  return escapeReferences(text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' '))
}
