/** Thresholds have no names: they are told apart by what they count, and among those by their limits. */
import type { Fields } from './kinds.ts'

/** What a threshold counts, in words. Limit and action may change without making it another one. */
const describeThreshold = ({ entity_type, entity_id, metric, period }: Fields): string =>
  [entity_type ?? 'all', entity_id, metric, period]
    .filter((part) => part !== undefined && part !== null)
    .map(String)
    .join(' ')

/** A name for each, of fields in which entities go by name: "agent Helper tokens day", the second of its like with a 2 behind it. */
export function listThresholdNames(all: readonly Fields[]): string[] {
  const order = all.map((_, index) => index).sort((a, b) => compareThresholds(all[a] as Fields, all[b] as Fields))
  const names: string[] = []
  const seen = new Map<string, number>()
  for (const index of order) {
    const group = describeThreshold(all[index] as Fields)
    const count = (seen.get(group) ?? 0) + 1
    seen.set(group, count)
    names[index] = count === 1 ? group : `${group} ${count}`
  }
  return names
}

const compareThresholds = (a: Fields, b: Fields): number =>
  Number(a.limit) - Number(b.limit) || (String(a.action) < String(b.action) ? -1 : 1)
