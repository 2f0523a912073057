/** Finds comparisons of two columns of the same row: "more registrations than capacity", "below their minimum stock". */
import { isIdentifier, isMoney } from '../cells/column-roles.ts'
import { findPhrase, type Question, type Span, type Word } from '../parse-question.ts'
import type { NumberComparison } from '../query.ts'
import { findDueDates } from '../states/link-times.ts'
import { LIMITS } from '../states/state-words.ts'
import type { Column, Reading } from '../typed-table.ts'
import { COMPARISONS, DIRECTIONS, isSuperlative } from '../vocabulary.ts'
import { type ColumnLink, hasHeaderStem, isPartOfHeader, type LinkedCondition, listHeaderStems, RANKS } from './links.ts'

/** Words without content between "than" and the second column. */
const MAX_GAP = 3

interface Comparative extends Span {
  comparison: NumberComparison
}

export function createColumnComparisons(question: Question, columns: readonly Column[], links: readonly ColumnLink[]): LinkedCondition[] {
  const { words } = question
  // "Are past their deadline" is a state.
  const comparatives = listComparatives(words).filter(({ start }) => words[start]?.text !== 'past')
  if (comparatives.length === 0) return []
  const headers = columns.map(listHeaderStems)
  const [due, actual] = findDueDates(question, columns, headers) ?? []
  return comparatives.flatMap(({ start, end, comparison }) => {
    const isAfter = (link: ColumnLink) => link.start >= end && link.start <= end + MAX_GAP && isGap(words, end, link.start)
    const after = links.filter((link) => isAfter(link) && !isPartOfHeader(link, { columns: [...links], conditions: [] }))
    return selectNearest(after, ({ start: from }) => from - end).flatMap((second) => {
      const isFirst = (link: ColumnLink) => link.end <= second.start && findReading(columns, link.column, second.column) !== undefined
      const first = links.filter(isFirst)
      // "More registrations than capacity", "cost more than their budget", or no first column: "below the minimum stock".
      const within = first.filter((link) => link.start >= start)
      const before = first.filter((link) => link.end <= start)
      const named =
        within.length > 0 ? selectNearest(within, (link) => second.start - link.end) : selectNearest(before, (link) => start - link.end)
      const implied = named.length > 0 ? [] : findRelated(columns, second.column).map((column) => ({ column, start, end }))
      // "Pay the invoice after its due date" does not compare the date of the invoice.
      return [...named, ...implied]
        .filter((link) => second.column !== due || link.column === actual)
        .map(
          (link): LinkedCondition => ({
            start: Math.min(start, link.start),
            end: second.end,
            // Its features have the weights of comparisons with another row, of which there are more questions to learn from.
            match: 'row',
            condition: {
              kind: 'than_column',
              column: link.column,
              reading: findReading(columns, link.column, second.column) as Reading,
              comparison,
              other: second.column,
            },
          }),
        )
    })
  })
}

/** Finds "more … than" and phrases such as "exceeds". */
function listComparatives(words: readonly Word[]): Comparative[] {
  const than = words.findIndex(({ text }) => text === 'than')
  const from = words.findLastIndex((word, index) => index < than && isSuperlative(word))
  if (than > 0 && from >= 0)
    return [{ start: from, end: than + 1, comparison: DIRECTIONS.max.has(words[from]?.text ?? '') ? 'more' : 'less' }]
  return COMPARISONS.flatMap(([phrase, comparison]): Comparative[] => {
    if (phrase.startsWith('…') || comparison === 'between' || comparison === 'equal') return []
    const start = findPhrase(words, phrase)
    return start < 0 ? [] : [{ start, end: start + phrase.split(' ').length, comparison }]
  })
}

const isGap = (words: readonly Word[], from: number, to: number) => words.slice(from, to).every(({ isStop }) => isStop)

/** Returns the nearest links; of several for the same words, those that match best. */
function selectNearest(links: readonly ColumnLink[], measure: (link: ColumnLink) => number): ColumnLink[] {
  const nearest = Math.min(...links.map(measure))
  const near = links.filter((link) => measure(link) === nearest)
  const best = Math.max(...near.map(({ match }) => RANKS[match]))
  return near.filter(({ match }) => RANKS[match] === best)
}

/** Returns how two columns are compared; undefined if they cannot be. */
function findReading(columns: readonly Column[], first: number, second: number): Reading | undefined {
  const [a, b] = [columns[first], columns[second]]
  if (!a || !b || first === second || [a, b].some(({ type, header }) => type === 'boolean' || isIdentifier(header))) return undefined
  if (a.readings.number && b.readings.number && a.unit === b.unit) return 'number'
  return a.readings.date && b.readings.date ? 'date' : undefined
}

/** Returns the only other column with a word of this column's header, such as "In stock" for "Minimum stock", or one that it limits. */
function findRelated(columns: readonly Column[], column: number): number[] {
  const stems = new Set(listHeaderStems(columns[column]))
  const limited = LIMITS.flatMap(({ limits, measures }) => ([...limits].some((stem) => stems.has(stem)) ? [...measures] : []))
  for (const wanted of [stems, new Set(limited)]) {
    const related = columns.flatMap((other, index) =>
      hasHeaderStem(other, wanted) && findReading(columns, index, column) !== undefined ? [index] : [],
    )
    const isAlike = (index: number) => isMoney(columns[index] as Column) === isMoney(columns[column] as Column)
    const best = related.length > 1 ? related.filter(isAlike) : related
    if (best.length === 1) return best
  }
  return []
}
