/** Words of a command as they can be pasted into a shell. */
import { oneLine } from './text.ts'

/** The word as it is, or in quotes where a shell would take it apart. */
export function quoteShellWord(word: string): string {
  const safe = oneLine(word)
  return /^[\p{L}\p{N}_./:@%+=,-]+$/u.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`
}
