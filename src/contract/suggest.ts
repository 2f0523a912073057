/** "Did you mean": the known word nearest to one that is not known. */

/** The word that needs the fewest changes, if those are few: a third of its letters unless more are allowed. */
export function suggestWord(given: string, known: readonly string[], most = getMaxDistance(given)): string | undefined {
  return findWithinDistance(given, known, most)[0]
}

/** The names nearest to one that is not known, at most so many: those that need few changes, then those that hold it. */
export function findNearest(given: string, known: readonly string[], count: number): string[] {
  const names = known.filter((name, at) => known.findIndex((other) => other.toLowerCase() === name.toLowerCase()) === at)
  const holds =
    given.trim().length < MIN_SUBSTRING_LENGTH ? [] : names.filter((name) => name.toLowerCase().includes(given.trim().toLowerCase()))
  return [...new Set([...findWithinDistance(given, names, getMaxDistance(given)), ...holds])].slice(0, count)
}

/** Fewer letters are in too many names. */
const MIN_SUBSTRING_LENGTH = 3

const getMaxDistance = (given: string): number => Math.max(1, Math.floor(given.length / 3))

/** Those that so many changes reach, the nearest first. */
function findWithinDistance(given: string, known: readonly string[], most: number): string[] {
  const near = known
    .map((word) => ({ word, away: computeDistance(given.toLowerCase(), word.toLowerCase(), most) }))
    .filter(({ away }) => away <= most)
  return near.sort((a, b) => a.away - b.away).map(({ word }) => word)
}

/** Changes that turn one word into the other, swapped neighbours being one; anything farther than `most` is just "too far". */
function computeDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (above[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1)
      const swaps = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const swapped = swaps ? (before[column - 2] as number) + 1 : Number.POSITIVE_INFINITY
      current.push(Math.min(replaced, swapped, (above[column] as number) + 1, (current[column - 1] as number) + 1))
    }
    before = above
    above = current
  }
  return above[b.length] as number
}
