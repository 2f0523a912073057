/** Says whether a query explains every word of a question for yes or no: one that is dropped makes a yes wrong and look certain. */
import { isMoney } from '../cells/column-roles.ts'
import { isInHeader, isInValue, isStatedBy, type Links } from '../linking/links.ts'
import type { Demands } from '../linking/question-demands.ts'
import { covers, type Question, type Word } from '../parse-question.ts'
import { listAllConditions, listUsedColumns, type Query } from '../query.ts'
import type { Column, TypedTable } from '../typed-table.ts'
import { AGGREGATE_WORDS, CURRENCY_STEMS, toStems, toWords } from '../vocabulary.ts'

/** Words that say nothing about rows. */
const EMPTY = toWords(
  `exist exists anything something anyone someone anybody somebody everything everyone everybody thing things entry entries row rows
    record records currently now today ever yet already still even however also there here company`,
)
/** What a table with amounts of money is about. */
const TRADE = toStems('buy bought purchase sell sold order ordered spend spent pay paid cost earn receive invoice bill charge')
const SPENDING = toStems('spend spent pay paid earn')

export function createVerdictExplanation(
  { words, numbers }: Question,
  table: TypedTable,
  links: Links,
  demands: Pick<Demands, 'quantifier'>,
): (query: Query) => boolean {
  const hasMoney = table.columns.some(isMoney)
  const isEmpty = ({ text, stem, isStop, isIgnored, isTitle }: Word) =>
    isTitle || (isStop && !isIgnored) || EMPTY.has(text) || CURRENCY_STEMS.has(stem) || (hasMoney && TRADE.has(stem))
  const isNumber = (index: number) => words[index]?.number !== undefined || numbers.some((number) => covers(number, index))
  // A word of a value is no empty word: "has Acme paid?"
  const isValue = (index: number) => !words[index]?.isTitle && !words[index]?.isStop && isInValue(links, index)
  const { kind, index: quantifier, size } = demands.quantifier ?? {}
  const isSaid = (index: number) => (kind !== 'whole' && index === quantifier) || (size !== undefined && covers(size, index))
  const open = [...words.keys()].filter((index) => !isSaid(index) && (isNumber(index) || isValue(index) || !isEmpty(words[index] as Word)))
  // "Did Acme pay more than 5,000 euros?" may be about the sum of several rows.
  const isOfSum = hasMoney && words.some(({ stem }) => SPENDING.has(stem)) && !words.some(({ isTitle }) => isTitle)
  // "Is the total over 20,000?" is not about single rows, unless a column has totals.
  const isOfAggregate = words.some(
    ({ text }, index) =>
      AGGREGATE_WORDS.has(text) && !isInHeader(links, index) && !links.conditions.some((linked) => covers(linked, index)),
  )
  return (query) => {
    const conditions = listAllConditions(query)
    if (isOfAggregate) return false
    if (isOfSum && conditions.some(({ kind, column }) => kind === 'numbers' && isMoney(table.columns[column] as Column))) return false
    const used = new Set(listUsedColumns(query))
    const isLinked = (index: number) =>
      links.columns.some(({ start, end, match, column }) => covers({ start, end }, index) && (match !== 'synonym' || used.has(column)))
    return open.every((index) => isStatedBy(links, index, conditions) || isLinked(index))
  }
}
