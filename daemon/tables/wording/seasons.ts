/** Seasons of the northern hemisphere, as months; the winter of a year begins in its December. */
import type { DateMention, Word } from './mentions.ts'

const SEASONS: ReadonlyMap<string, readonly [number, number, number]> = new Map([
  ['spring', [3, 4, 5]],
  ['summer', [6, 7, 8]],
  ['autumn', [9, 10, 11]],
  ['winter', [12, 1, 2]],
])
const YEAR = /^(?:19|20)\d\d$/

/** Finds "in spring" and "the summer of 2025": months, or the first month and the first one after it if a year is given. */
export function findSeasons(words: readonly Word[]): DateMention[] {
  return words.flatMap(({ text }, start): DateMention[] => {
    const months = SEASONS.get(text)
    const next = words[start + 1]
    // A "summer party" is no season.
    if (!months || (next !== undefined && !next.isStop && next.number === undefined)) return []
    const at = [start + 1, start + 2].find((index) => YEAR.test(words[index]?.text ?? ''))
    if (at === undefined) return [{ start, end: start + 1, from: '', to: '', months, comparison: 'equal' }]
    const [first, , last] = months
    const year = Number(words[at]?.text)
    const format = (month: number, ofYear: number) => `${ofYear}-${String(month).padStart(2, '0')}`
    const to = format(last + 1, last < first ? year + 1 : year)
    return [{ start, end: at + 1, from: format(first, year), to, comparison: 'equal' }]
  })
}
