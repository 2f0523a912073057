/** Compares two texts line by line. */
import { diffArrays } from 'diff'

export interface DiffLine {
  sign: '-' | '+' | ' '
  text: string
}

/** Beyond this many changes a diff is unreadable, and computing it takes seconds. */
const MAX_CHANGES = 500

export function diffLines(before: string, after: string): DiffLine[] {
  const [removed, added] = [before.split('\n'), after.split('\n')]
  const changes = diffArrays(removed, added, { maxEditLength: MAX_CHANGES })
  if (!changes) return [...toDiffLines('-', removed), ...toDiffLines('+', added)]
  return changes.flatMap((change) => toDiffLines(change.removed ? '-' : change.added ? '+' : ' ', change.value))
}

const toDiffLines = (sign: DiffLine['sign'], lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign, text }))
