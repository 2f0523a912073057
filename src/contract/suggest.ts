/** "Did you mean": the known word nearest to one that is not known. */

export function suggest(given: string, known: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(given.length / 3))
  const near = known.map((word) => ({ word, away: distance(given.toLowerCase(), word.toLowerCase(), most) })).filter(({ away }) => away <= most)
  return near.sort((a, b) => a.away - b.away)[0]?.word
}

/** Levenshtein distance; anything farther than `most` is just "too far". */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const swap = (above[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(swap, (above[column] as number) + 1, (current[column - 1] as number) + 1))
    }
    above = current
  }
  return above[b.length] as number
}
