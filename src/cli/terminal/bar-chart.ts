/** Bar charts that fit the terminal: a label, figures and a bar per row. */
import { paint } from './color.ts'
import type { Output } from './table.ts'
import { padEnd, sanitizeLine, stringWidth, truncate } from './text.ts'

export interface Bar {
  label: string
  /** Figures between the label and the bar. */
  cells: readonly string[]
  /** Length of the bar relative to the largest value. */
  value: number
  /** Shown after the bar in wide terminals. */
  note?: string | undefined
}

const GAP = 2
const MIN_LABEL_COLUMNS = 8
const MIN_BAR_COLUMNS = 4
const MAX_BAR_COLUMNS = 32
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** Non-zero shares always get at least an eighth of a column. */
export function formatBar(share: number, columns: number): string {
  const eighths = Math.max(share > 0 ? 1 : 0, Math.round(Math.min(1, share) * columns * 8))
  return '█'.repeat(eighths >> 3) + EIGHTHS[eighths & 7]
}

export function formatChart(heads: readonly [string, ...string[]], rows: readonly Bar[], { columns, stream }: Output): string[] {
  const [head, ...figures] = heads
  const labels = rows.map(({ label }) => sanitizeLine(label))
  const widths = figures.map((figure, index) => Math.max(stringWidth(figure), ...rows.map(({ cells }) => stringWidth(cells[index] ?? ''))))
  const widestLabel = Math.max(stringWidth(head), ...labels.map(stringWidth))
  const room = Math.min(columns, 160) - widths.reduce((sum, size) => sum + size + GAP, 0)
  const label = Math.min(widestLabel, Math.max(MIN_LABEL_COLUMNS, room - GAP - MIN_BAR_COLUMNS))
  const length = Math.min(MAX_BAR_COLUMNS, room - label - GAP)
  const noted =
    columns === Number.POSITIVE_INFINITY || room - label - 2 * GAP - length >= Math.max(...rows.map(({ note = '' }) => stringWidth(note)))
  const longest = Math.max(...rows.map(({ value }) => value))
  const formatFigures = (cells: readonly string[]) =>
    cells.map((cell, index) => ' '.repeat(GAP + (widths[index] ?? 0) - stringWidth(cell)) + cell).join('')
  const lines = rows.map(({ cells, value, note = '' }, index) => {
    const text = padEnd(truncate(labels[index] ?? '', label), label) + formatFigures(cells)
    const drawn = length < MIN_BAR_COLUMNS || longest <= 0 ? '' : formatBar(value / longest, length)
    const behind = noted && note !== '' ? `${' '.repeat(Math.max(0, length - stringWidth(drawn)) + GAP)}${paint('dim', note, stream)}` : ''
    return `${text}${' '.repeat(GAP)}${paint('cyan', drawn, stream)}${behind}`.trimEnd()
  })
  return [paint('bold', padEnd(truncate(head, label), label) + formatFigures(figures), stream), ...lines]
}
