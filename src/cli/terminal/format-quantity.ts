/** Formats sizes, durations and counts. */

export function formatBytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = count
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

export function formatDuration(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  if (first === -1) return '0 s'
  return parts
    .slice(first, first + 2)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/** Returns `1,234`, or `1 document` and `2 documents` with a noun. */
export function formatCount(count: number, noun?: string): string {
  const number = count.toLocaleString('en')
  return noun === undefined ? number : `${number} ${noun}${count === 1 ? '' : 's'}`
}

/** Estimates are marked: the provider did not report the tokens. */
export const formatTokens = (count: number, isEstimated = false): string => `${isEstimated ? 'about ' : ''}${formatCount(count)} tokens`

/** At most six columns. */
export const formatCompact = (number: number): string =>
  number < 10_000 ? formatCount(number) : number.toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** Returns – for an unknown duration. */
export function formatMilliseconds(milliseconds: number | null): string {
  if (milliseconds === null) return '–'
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  return milliseconds < 60_000 ? `${(milliseconds / 1000).toFixed(1)} s` : formatDuration(milliseconds / 1000)
}
