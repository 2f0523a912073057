/** Small bar charts that fit the terminal: a label, figures, and a bar beside them where there is room. */
import { paint } from './color.ts'
import type { Output } from './table.ts'
import { oneLine, padEnd, truncate, width } from './text.ts'

export interface Bar {
  label: string
  /** Figures between the label and the bar. */
  cells: readonly string[]
  /** How long the bar is, against the longest. */
  value: number
  /** What is shown behind the bar in wide terminals. */
  note?: string | undefined
}

const GAP = 2
const MIN_LABEL_COLUMNS = 8
const MIN_BAR_COLUMNS = 4
const MAX_BAR_COLUMNS = 32
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A bar of that share of the columns; what is more than nothing shows. */
export function formatBar(share: number, columns: number): string {
  const eighths = Math.max(share > 0 ? 1 : 0, Math.round(Math.min(1, share) * columns * 8))
  return '█'.repeat(eighths >> 3) + EIGHTHS[eighths & 7]
}

/** The chart as lines; heads name the label and each figure. */
export function formatChart(heads: readonly [string, ...string[]], rows: readonly Bar[], { columns, stream }: Output): string[] {
  const [head, ...figures] = heads
  const labels = rows.map(({ label }) => oneLine(label))
  const widths = figures.map((figure, index) => Math.max(width(figure), ...rows.map(({ cells }) => width(cells[index] ?? ''))))
  const widestLabel = Math.max(width(head), ...labels.map(width))
  const room = Math.min(columns, 160) - widths.reduce((sum, size) => sum + size + GAP, 0)
  const label = Math.min(widestLabel, Math.max(MIN_LABEL_COLUMNS, room - GAP - MIN_BAR_COLUMNS))
  const length = Math.min(MAX_BAR_COLUMNS, room - label - GAP)
  const noted =
    columns === Number.POSITIVE_INFINITY || room - label - 2 * GAP - length >= Math.max(...rows.map(({ note = '' }) => width(note)))
  const longest = Math.max(...rows.map(({ value }) => value))
  const figuresOf = (cells: readonly string[]) =>
    cells.map((cell, index) => ' '.repeat(GAP + (widths[index] ?? 0) - width(cell)) + cell).join('')
  const lines = rows.map(({ cells, value, note = '' }, index) => {
    const text = padEnd(truncate(labels[index] ?? '', label), label) + figuresOf(cells)
    const drawn = length < MIN_BAR_COLUMNS || longest <= 0 ? '' : formatBar(value / longest, length)
    const behind = noted && note !== '' ? `${' '.repeat(Math.max(0, length - width(drawn)) + GAP)}${paint('dim', note, stream)}` : ''
    return `${text}${' '.repeat(GAP)}${paint('cyan', drawn, stream)}${behind}`.trimEnd()
  })
  return [paint('bold', padEnd(truncate(head, label), label) + figuresOf(figures), stream), ...lines]
}
