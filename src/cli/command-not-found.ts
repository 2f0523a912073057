/** What oclif runs for a command it does not know: says which one was probably meant. */
import type { Hook } from '@oclif/core/hooks'
import { UsageError } from './failure.ts'

export const commandNotFound: Hook<'command_not_found'> = async ({ id, config }) => {
  const typed = id.replaceAll(':', ' ')
  const known = [...config.commands.filter(({ hidden }) => !hidden).map((command) => command.id), ...config.topics.map(({ name }) => name)]
  const near = closest(id, known)
  throw new UsageError(`"${typed}" is not a cadre command.`, near ? `Did you mean cadre ${near.replaceAll(':', ' ')}?` : 'cadre --help shows what there is.')
}

/** The known word that needs the fewest changes, if those are few. */
export function closest(word: string, known: readonly string[]): string | undefined {
  const ranked = known.map((candidate) => ({ candidate, distance: distance(word, candidate) })).sort((a, b) => a.distance - b.distance)
  const [best] = ranked
  return best && best.distance <= Math.max(2, Math.floor(word.length / 3)) ? best.candidate : undefined
}

/** Changes that turn one word into the other; swapped neighbours are one change. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)))
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, at(i - 2, j - 2) + 1)
      ;(rows[i] as number[])[j] = least
    }
  }
  return at(a.length, b.length)
}
