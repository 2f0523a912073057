/** Quotes words of commands in messages for the shell. */
import { sanitizeLine } from './text.ts'

export function quoteShellWord(word: string): string {
  const safe = sanitizeLine(word)
  return /^[\p{L}\p{N}_./:@%+=,-]+$/u.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`
}
