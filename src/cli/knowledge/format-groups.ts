/** Draws groups with a number each as bars. */
import type { TableQueryResult } from '../../contract/families/tables.ts'
import { formatChart } from '../terminal/bar-chart.ts'
import type { Output } from '../terminal/table.ts'

const MAX_BARS = 40

/** Returns undefined unless the result has a column of names and one of numbers that are not negative. */
export function formatGroups({ columns, rows }: TableQueryResult, output: Output): string[] | undefined {
  const [label, figure] = columns
  if (label === undefined || figure === undefined || columns.length !== 2 || rows.length < 2 || rows.length > MAX_BARS) return undefined
  if (!rows.every(([name, number]) => typeof name === 'string' && typeof number === 'number' && number >= 0)) return undefined
  const bars = rows.map(([name, number]) => ({ label: String(name), cells: [String(number)], value: Number(number) }))
  return formatChart([label, figure], bars, output)
}
