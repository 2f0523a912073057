/** Formats rows as a table that fits the terminal, and one resource as a list of fields. */
import { paint } from './color.ts'
import { formatCell, formatValue } from './format-cell.ts'
import { padEnd, stringWidth, truncate, wrap } from './text.ts'

export type Row = Record<string, unknown>

const GAP = 2
const MIN_COLUMN_WIDTH = 10
const MIN_VALUE_WIDTH = 20
const INDENT = '  '
/** Columns that name a row and can be used instead of its ID. */
const LABEL_KEYS = ['name', 'title', 'url']

/** IDs are meant to be copied, so they are never truncated. */
const isIdentifier = (key: string) => key === 'id' || key.endsWith('_id')
const isTimestamp = (key: string) => key.endsWith('_at') || key === 'last_sync'

export interface Output {
  columns: number
  stream: NodeJS.WriteStream
}

/** Infinite columns if the stream is not a terminal. */
export function getOutput(stream: NodeJS.WriteStream): Output {
  return { columns: stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY, stream }
}

export interface RenderedText {
  text: string
  /** Headings of the columns that did not fit. */
  hidden: string[]
}

export function formatTable(rows: readonly Row[], columns: readonly string[], output: Output): string {
  return layOutTable(rows, columns, output).text
}

/** Errors that do not fit are printed below their row, and so are the IDs of rows without a unique name. */
export function layOutTable(rows: readonly Row[], columns: readonly string[], output: Output): RenderedText {
  const { shown, below, hidden, widths } = arrangeColumns(rows, columns, output.columns)
  const formatLine = (row: readonly string[]) =>
    row
      .map((cell, index) => padEnd(truncate(cell, widths[index] ?? 0), widths[index] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd()
  const lines = rows.flatMap((_, index) => [
    formatLine(shown.map(({ cells }) => cells[index] ?? '')),
    ...below.flatMap(({ key, cells }) => formatLinesBelow(key, cells[index] ?? '', output)),
  ])
  return { text: [paint('bold', formatLine(shown.map(({ heading }) => heading)), output.stream), ...lines].join('\n'), hidden }
}

function formatLinesBelow(key: string, cell: string, { columns, stream }: Output): string[] {
  if (cell === '') return []
  if (isIdentifier(key)) return [paint('dim', (stringWidth(INDENT + cell) > columns ? '' : INDENT) + cell, stream)]
  return wrap(cell, Math.max(MIN_COLUMN_WIDTH, columns - INDENT.length)).map((text) => INDENT + paint('red', text, stream))
}

interface Column {
  key: string
  heading: string
  cells: string[]
  naturalWidth: number
  /** The column is hidden rather than made narrower. */
  minWidth: number
}

function createColumn(rows: readonly Row[], key: string, minWidth: number): Column {
  const heading = key.replaceAll('_', ' ').toUpperCase()
  const cells = rows.map((row) => formatCell(row[key]))
  const naturalWidth = Math.max(stringWidth(heading), ...cells.map(stringWidth))
  const isNeverCut = isIdentifier(key) || isTimestamp(key)
  return { key, heading, cells, naturalWidth, minWidth: isNeverCut ? naturalWidth : Math.min(naturalWidth, minWidth) }
}

/** Gives names priority over IDs and times. Without a terminal all columns are shown, even empty ones, for scripts. */
function arrangeColumns(rows: readonly Row[], keys: readonly string[], columns: number) {
  const labelKey = keys.find((key) => LABEL_KEYS.includes(key))
  const all = keys.map((key) =>
    createColumn(rows, key, key === labelKey ? Math.max(MIN_COLUMN_WIDTH, Math.floor(columns / 2)) : MIN_COLUMN_WIDTH),
  )
  const candidates = columns === Number.POSITIVE_INFINITY ? all : all.filter(({ cells }) => cells.some((cell) => cell !== ''))
  const widths = candidates.map(({ naturalWidth }) => naturalWidth)
  if (sumWidths(widths) <= columns) return { shown: candidates, below: [], hidden: [], widths }
  const below = candidates.filter(({ key }) => key === 'error')
  const label = candidates.find(({ key }) => key === labelKey)
  let shown = candidates.filter((column) => !below.includes(column))
  const hidden: string[] = []
  while (shown.length > 1 && sumWidths(shown.map(({ minWidth }) => minWidth)) > columns) {
    const removed = findLeastImportant(shown, label, columns)
    shown = shown.filter((column) => column !== removed)
    const cells = removed.key === 'id' ? keepAmbiguous(removed, label) : []
    below.unshift({ ...removed, cells })
    if (cells.filter(Boolean).length < rows.length) hidden.push(removed.heading)
  }
  return { shown, below, hidden, widths: shrinkColumns(shown, columns) }
}

/** The ID if there is a name or no room for anything else, then the last time, then the last column. */
function findLeastImportant(shown: readonly Column[], label: Column | undefined, columns: number): Column {
  const id = shown.find(({ key }) => key === 'id')
  if (id && (label || id.naturalWidth + GAP + MIN_COLUMN_WIDTH > columns)) return id
  const others = shown.filter(({ key }) => key !== 'id' && key !== label?.key)
  return (others.findLast(({ key }) => isTimestamp(key)) ?? others.at(-1) ?? shown.at(-1)) as Column
}

/** Keeps the IDs of rows without a unique name. */
function keepAmbiguous(id: Column, label: Column | undefined): string[] {
  const names = label?.cells ?? []
  const isUnique = (name: string | undefined) => name !== undefined && name !== '' && names.indexOf(name) === names.lastIndexOf(name)
  return id.cells.map((cell, index) => (isUnique(names[index]) ? '' : cell))
}

const sumWidths = (widths: readonly number[]) => widths.reduce((sum, next) => sum + next, 0) + GAP * (widths.length - 1)

/** Narrows the widest column first. */
function shrinkColumns(shown: readonly Column[], columns: number): number[] {
  const widths = shown.map(({ naturalWidth }) => naturalWidth)
  while (sumWidths(widths) > columns) {
    const shrinkable = widths
      .map((width, index) => ({ width, index, minWidth: shown[index]?.minWidth ?? 0 }))
      .filter(({ width, minWidth }) => width > minWidth)
      .sort((a, b) => b.width - a.width)
    const [widest, second] = shrinkable
    if (!widest) return widths
    const less = Math.max(1, Math.min(sumWidths(widths) - columns, widest.width - (second?.width ?? 0)))
    widths[widest.index] = Math.max(widest.minWidth, widest.width - less)
  }
  return widths
}

/** One line per field; long values wrap in the second column, or below the name in a narrow terminal. */
export function formatRecord(row: Row, output: Output): string {
  const names = Object.keys(row).map((key) => key.replaceAll('_', ' '))
  const widest = Math.max(...names.map(stringWidth)) + GAP
  const isNarrow = output.columns - widest < MIN_VALUE_WIDTH
  const left = isNarrow ? INDENT.length : widest
  const right = Math.max(1, Math.min(output.columns, 120) - left)
  const paragraphs = Object.values(row).map((value, index) => {
    const lines = output.columns === Number.POSITIVE_INFINITY ? formatValue(value).split('\n') : wrap(formatValue(value), right)
    const name = paint('bold', padEnd(`${names[index]}`, isNarrow ? 0 : left), output.stream) + (isNarrow ? `\n${INDENT}` : '')
    return lines.map((line, at) => (at === 0 ? name : ' '.repeat(left)) + line).join('\n')
  })
  return paragraphs.map((text) => text.trimEnd()).join('\n')
}
