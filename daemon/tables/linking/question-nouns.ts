/** Finds what a question asks for: the rows, or the columns that its nouns name. */
import { findNameColumn, isIdentifier, isMoney } from '../infer-columns.ts'
import { covers, splitWords, type Word } from '../parse-question.ts'
import type { Column } from '../typed-table.ts'
import { COUNTING_SUPERLATIVES, isOperationWord, isSuperlative, PERSON_STEMS, STOP_WORDS } from '../vocabulary.ts'
import type { ColumnLink, Links } from './links.ts'

/** "The most items" asks for the number of rows: "items" names the rows, or a column that is not measured. */
export function asksForMostRows(words: readonly Word[], links: Links, isMeasured: (link: ColumnLink) => boolean): boolean {
  const most = words.findIndex(({ text }) => COUNTING_SUPERLATIVES.has(text))
  const next = words[most + 1]
  if (most < 0 || !next) return false
  const named = links.columns.filter(({ start, match }) => start === most + 1 && match !== 'synonym')
  return named.length > 0 ? !named.some(isMeasured) : next.isTitle === true
}

/** Whether a column has people or companies. */
export const isPersonHeader = (header: string): boolean => PERSON_STEMS.has(splitWords(header).at(-1)?.stem ?? '')

/** Returns the columns that "who" may ask for; otherwise the first column of text, which names the rows of most tables. */
function listPeople(columns: readonly Column[]): number[] {
  const people = columns.flatMap(({ header, type }, column) => (type === 'text' && isPersonHeader(header) ? [column] : []))
  const first = columns.findIndex(({ type, header }) => type === 'text' && !isIdentifier(header))
  return people.length > 0 ? people : [findNameColumn(columns) ?? Math.max(0, first)]
}

/** The columns that the first word after "which" or "what" names, or "who" itself. */
export function listNouns(words: readonly Word[], columns: readonly Column[], links: readonly ColumnLink[]): Set<number> {
  const start = words.findIndex(({ text }) => ['which', 'what', 'who', 'whose'].includes(text))
  if (start < 0) return new Set()
  const isLinked = (index: number) => links.some((link) => covers(link, index))
  let index = start
  if (words[start]?.text === 'who') {
    // "Who is the head of Legal?" asks for the column Head.
    const isAsked = ({ column, start: at, match }: ColumnLink) => at === start || (match === 'exact' && columns[column]?.type === 'text')
    const named = links.filter(isAsked).map(({ column }) => column)
    return new Set([...named, ...(links.some((link) => link.start === start) ? [] : listPeople(columns))])
  }
  /** "The cheapest online course" does not ask for the column Online. */
  const isAdjective = () => links.some((link) => link.start === index && columns[link.column]?.type === 'boolean')
  const isSkipped = (word: Word) =>
    isSuperlative(word) || isAdjective() || ((STOP_WORDS.has(word.text) || isOperationWord(word)) && !isLinked(index))
  while (index < words.length && isSkipped(words[index] as Word) && !(index > start && words[index]?.isTitle)) index++
  const nouns = links.filter((link) => covers(link, index))
  // "Which apartment" in apartments.csv asks for the name or number of the row, "what was the largest sale" also for the amount.
  if (words[index]?.isTitle && !nouns.some(({ match }) => match === 'exact')) {
    const amounts = words[start]?.text === 'what' ? columns.flatMap((column, position) => (isMoney(column) ? [position] : [])) : []
    return new Set([findNameColumn(columns) ?? 0, ...amounts])
  }
  // "Which employee" asks for the name, not for the number in the column Employee ID.
  const getShown = ({ column, match }: ColumnLink) =>
    (match === 'part' && isIdentifier(columns[column]?.header ?? '') ? findNameColumn(columns) : undefined) ?? column
  return new Set(nouns.map(getShown))
}
