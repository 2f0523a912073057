/** Names thresholds by what they count, and numbers those that count the same. */
import type { Fields } from './kinds.ts'

/** Omits limit and action: they may change without changing the threshold's identity. */
const describeThreshold = ({ entity_type, entity_id, metric, period }: Fields): string =>
  [entity_type ?? 'all', entity_id, metric, period]
    .filter((part) => part !== undefined && part !== null)
    .map(String)
    .join(' ')

/** Returns names such as "agent Helper tokens day", followed by 2 for the second of its kind. Entities must be given by name. */
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
