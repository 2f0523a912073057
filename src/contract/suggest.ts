/** "Did you mean": finds the known words that are most similar to an unknown word. */

/** Finds the most similar word. By default at most a third of its letters may differ. */
export function suggestWord(word: string, known: readonly string[], maxDistance = getMaxDistance(word)): string | undefined {
  return findWithinDistance(word, known, maxDistance)[0]
}

/** Finds up to `count` names: first similar names, then names that contain `name`. */
export function findNearest(name: string, known: readonly string[], count: number): string[] {
  const names = known.filter((each, index) => known.findIndex((other) => other.toLowerCase() === each.toLowerCase()) === index)
  const part = name.trim().toLowerCase()
  const containing = part.length < MIN_SUBSTRING_LENGTH ? [] : names.filter((each) => each.toLowerCase().includes(part))
  return [...new Set([...findWithinDistance(name, names, getMaxDistance(name)), ...containing])].slice(0, count)
}

/** Shorter substrings occur in too many names. */
const MIN_SUBSTRING_LENGTH = 3

const getMaxDistance = (word: string): number => Math.max(1, Math.floor(word.length / 3))

/** Lists the known words within the distance, most similar first. */
function findWithinDistance(word: string, known: readonly string[], maxDistance: number): string[] {
  return known
    .map((candidate) => ({ candidate, distance: computeDistance(word.toLowerCase(), candidate.toLowerCase(), maxDistance) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate)
}

/** The Damerau–Levenshtein distance, where two swapped letters count as one change. */
function computeDistance(a: string, b: string, maxDistance: number): number {
  if (Math.abs(a.length - b.length) > maxDistance) return maxDistance + 1
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
