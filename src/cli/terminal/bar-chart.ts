/** Bar charts and sparklines that fit the terminal. */
import { paint, supportsBlocks } from './color.ts'
import type { Output } from './table.ts'
import { padEnd, sanitizeLine, stringWidth, truncate, wrap } from './text.ts'

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

/** Non-zero shares always get at least an eighth of a column, or one # without block characters. */
export function formatBar(share: number, columns: number, hasBlocks = supportsBlocks()): string {
  if (!hasBlocks) return '#'.repeat(Math.max(share > 0 ? 1 : 0, Math.round(Math.min(1, share) * columns)))
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

interface Trend {
  label: string
  /** Oldest first. */
  values: readonly number[]
  format: (value: number) => string
  /** Value of the tallest block; the largest value by default. */
  max?: number
  /** Shown after the blocks instead of the largest value. */
  note?: string
}

const LEVELS = '▁▂▃▄▅▆▇█'
const MIN_SPARKLINE_COLUMNS = 4
const MAX_SPARKLINE_COLUMNS = 60

/** Formats values over time as one line of blocks. Without block characters, names the smallest, largest and last value. */
export function formatTrend(trend: Trend, { columns, stream }: Output, hasBlocks = supportsBlocks()): string[] {
  const { label, values, format, note = `at most ${format(Math.max(...values))}` } = trend
  if (values.length < 2 || values.every((value) => value === 0)) return []
  if (!hasBlocks) {
    const [least, most, last] = [Math.min(...values), Math.max(...values), values.at(-1) ?? 0].map(format)
    return wrap(`${label.trimEnd()}: ${least} to ${most}, last ${last}`, columns)
  }
  const room = Math.min(columns, 160) - stringWidth(label) - stringWidth(note) - 2 * GAP
  if (room < MIN_SPARKLINE_COLUMNS) return wrap(`${label.trimEnd()}: ${note}`, columns)
  const blocks = formatSparkline(values, Math.min(room, MAX_SPARKLINE_COLUMNS), trend.max)
  return [`${label}${' '.repeat(GAP)}${paint('cyan', blocks, stream)}${' '.repeat(GAP)}${paint('dim', note, stream)}`]
}

/** One block per value; if there are more values than columns, one per group of values with their average. */
export function formatSparkline(values: readonly number[], columns: number, max?: number): string {
  const groups = Math.min(values.length, columns)
  const averages = Array.from({ length: groups }, (_, group) => {
    const part = values.slice(Math.floor((group * values.length) / groups), Math.floor(((group + 1) * values.length) / groups))
    return part.reduce((sum, value) => sum + value, 0) / part.length
  })
  const highest = max ?? Math.max(...averages)
  return averages.map((value) => LEVELS[highest > 0 ? Math.min(7, Math.round((7 * value) / highest)) : 0]).join('')
}
