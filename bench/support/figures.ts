/** The report of a benchmark: figures, their ratio to a baseline and the bar for that ratio. */

export interface Figure {
  name: string
  /** The measured values as text. */
  figure: string
  ratio?: number
  bar?: Bar
}

export type Bar = { most: number } | { least: number }

export interface Benchmark {
  name: string
  /** Whether it runs only if it is named. */
  isOptional?: boolean
  run(): Promise<Figure[]>
}

export function meetsBar({ ratio, bar }: Figure): boolean {
  if (ratio === undefined || bar === undefined) return true
  return 'most' in bar ? ratio <= bar.most : ratio >= bar.least
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}

export const formatMilliseconds = (value: number): string =>
  `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ms`
