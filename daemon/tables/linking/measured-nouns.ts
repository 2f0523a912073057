/** Finds what a question measures with "how many" and "the most": a column of numbers, not the rows. */
import { isAdditive } from '../cells/column-roles.ts'
import { covers, type Word } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { Column, TypedTable } from '../typed-table.ts'
import { COUNTING_SUPERLATIVES, EXTREME_WORDS, isSuperlative, SIZE_WORDS, TRIGGERS, toWords } from '../vocabulary.ts'
import { type ColumnLink, isInValue, isStatedBy, type Links } from './links.ts'

/** Returns the position of "most" in "the most fuel", but not in "the most expensive"; otherwise -1. */
export const findMost = (words: readonly Word[]): number =>
  words.findIndex(({ text }, index) => COUNTING_SUPERLATIVES.has(text) && !isSuperlative(words[index + 1] ?? { text: '' }))

/** "How many sick days" adds up the column Days. */
export function countsMeasure(words: readonly Word[], table: TypedTable, links: Links, isMeasured: (link: ColumnLink) => boolean): boolean {
  const many = words.findIndex(({ text }) => text === 'many')
  const isDescribed = (index: number) => (words[index]?.isStop && !words[index]?.isTitle) || isInValue(links, index)
  const isNamed = ({ start, match }: ColumnLink) => match === 'exact' || (match === 'part' && !words[start]?.isTitle)
  return links.columns.some(
    (link) =>
      link.start > many &&
      isNamed(link) &&
      isMeasured(link) &&
      isAdditive(table.columns[link.column] as Column, table) &&
      words.slice(many + 1, link.start).every((_, offset) => isDescribed(many + 1 + offset)),
  )
}

/** Whether a question asks for the largest or smallest. Words of a value, such as "Best Buy", ask for nothing. */
export function asksForExtreme(
  words: readonly Word[],
  exactHeaders: ReadonlySet<number>,
  links: Links,
  conditions: readonly Condition[],
): boolean {
  const isMost = (text: string, index: number) => COUNTING_SUPERLATIVES.has(text) && words[index - 1]?.text !== 'at'
  const isExtreme = (text: string, index: number) => EXTREME_WORDS.has(text) || (isMost(text, index) && words[index + 1]?.text !== 'of')
  return words.some(({ text }, index) => isExtreme(text, index) && !exactHeaders.has(index) && !isStatedBy(links, index, conditions))
}

/** Whether a question asks for the first or last row. "First" of the column "First aider" and "top" do not: data are in any order. */
export const asksForEdge = (
  words: readonly Word[],
  exactHeaders: ReadonlySet<number>,
  links: Links,
  conditions: readonly Condition[],
): boolean =>
  words.some(
    ({ text }, index) =>
      (TRIGGERS.edge as readonly string[]).includes(text) &&
      text !== 'top' &&
      !exactHeaders.has(index) &&
      !isStatedBy(links, index, conditions),
  )

const COUNTING_WORDS = toWords('number count often frequently times')
/** "The number of orders", but not "the phone number". */
export const asksForCount = ({ text, isTitle }: Word, index: number, words: readonly Word[]): boolean =>
  isTitle === true || (COUNTING_WORDS.has(text) && (text !== 'number' || words[index + 1]?.text === 'of'))

/** "The biggest unpaid invoice" is a row, not its amount. */
export const asksForDescribedRow = (words: readonly Word[], { conditions }: Links): boolean =>
  words.some(({ text }, index) => {
    const noun = words.findIndex((_, at) => at > index && !conditions.some((linked) => covers(linked, at)))
    return SIZE_WORDS.has(text) && noun > index + 1 && words[noun]?.isTitle === true && !/[^s]s$/.test(words[noun]?.text ?? '')
  })
