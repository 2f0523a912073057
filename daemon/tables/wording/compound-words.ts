/** Writes compounds of a question as the tables do: "check-ins" and "checked in" for checkins.json, "takeaway" for "Take-away". */
import { stem } from '../../language/content-words.ts'

const PAIR = /(?<![\p{L}\p{N}-])(\p{L}{2,})([- ])(?=(\p{L}{2,})(?![\p{L}\p{N}-]))/gu
const HYPHENATED = /(?<![\p{L}\p{N}-])(\p{L}+)-(\p{L}+)(?![\p{L}\p{N}-])/gu
const MIN_LENGTH = 5

/** Returns the stems of what is written with a hyphen without it, and how it is written. */
export const listCompounds = (texts: Iterable<string>): Map<string, string> => {
  const compounds = new Map<string, string>()
  for (const text of texts)
    if (text.includes('-'))
      for (const [written, first = '', second = ''] of text.toLowerCase().matchAll(HYPHENATED)) compounds.set(stem(first + second), written)
  return compounds
}

/** `names` are the stems of titles and headers, `findCompound` finds how a word is written with a hyphen. */
export function writeCompounds(text: string, names: ReadonlySet<string>, findCompound: (name: string) => string | undefined): string {
  const isJoined = (first: string, second: string) => {
    const joined = stem(stem(first.toLowerCase()) + second.toLowerCase())
    return joined.length >= MIN_LENGTH && names.has(joined)
  }
  return text
    .replaceAll(PAIR, (written, first: string, _, second: string) => (isJoined(first, second) ? stem(first.toLowerCase()) : written))
    .replaceAll(/\p{L}{5,}/gu, (word) => {
      const name = stem(word.toLowerCase())
      return names.has(name) ? word : (findCompound(name) ?? word)
    })
}
