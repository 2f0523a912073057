/** Words that a query must not drop: negations, states, units that a column has to measure, and "when … last". */

import { isStatedBy, type Links, listTitleStems } from '../linking/links.ts'
import type { Demands } from '../linking/question-demands.ts'
import { covers, type Question, type Span } from '../parse-question.ts'
import { type Condition, listAllConditions, listUsedColumns, type Query } from '../query.ts'
import type { TypedTable } from '../typed-table.ts'
import { NEGATIONS, toStems, toWords } from '../vocabulary.ts'
import { listUnitColumns } from './measured-units.ts'

/** "Sold out", "are out": "out" states a condition after these. */
const BEFORE_OUT = toWords('sold is are was were still currently')
const OCCASIONS = toWords('last first')
const DONE = toWords('finished completed finish')
const RELATIVES = toWords('that what which who those')
const HAPPENED = toWords('took happened')
/** Words between "only" and the clause. */
const MAX_RESTRICTED = 3
const DEBT_STEMS = toStems('owe owes owed owing')
const STORED = toWords('stock storage warehouse')
const STORED_AT = toWords('in on the our')
const STOCK = /stock|inventory|\bhand\b|available|\bleft\b|warehouse|stor(?:age|ed)|shelf|location/i
const QUANTITY = /\b(?:quantity|qty|count|units|pieces|amount|copies|number)\b/i
const TRADED = [...toStems('order sale invoice delivery purchase rental booking')]

/** Returns a function that says whether a query explains these words of a question. */
export function createExplanation({ words }: Question, table: TypedTable, links: Links, { dates }: Demands): (query: Query) => boolean {
  const isStated = (index: number, conditions: readonly Condition[]) => isStatedBy(links, index, conditions)
  const isColumn = (index: number) => links.columns.some((link) => covers(link, index))
  const states = words.flatMap(({ text, stem }, index) => {
    const isOut = text === 'out' && BEFORE_OUT.has(words[index - 1]?.text ?? '')
    const isDebt = DEBT_STEMS.has(stem) && !isColumn(index)
    return NEGATIONS.has(text) || isOut || isDebt ? [index] : []
  })
  /** "Only what took place", "those that happened": a condition must say so. */
  const restrictions = words.flatMap(({ text }, index) =>
    (text === 'only' && words.slice(index + 1, index + 1 + MAX_RESTRICTED).some((word) => RELATIVES.has(word.text))) ||
    (RELATIVES.has(text) && HAPPENED.has(words[index + 1]?.text ?? ''))
      ? [index]
      : [],
  )
  const said = links.conditions.filter(({ isState }) => isState)
  const done = words.flatMap(({ text }, index) => (DONE.has(text) ? [index] : []))
  const isStill = words.some(({ text }) => text === 'still')
  const units = listUnitColumns(words, links)
  const isInStock = words.some(({ text }, index) => STORED.has(text) && STORED_AT.has(words[index - 1]?.text ?? ''))
  const hasStock = TRADED.every((stem) => !listTitleStems(table).has(stem))
  // "The last inspection" is the column "Last inspection", but "last" alone is not.
  const isNamed = (index: number) =>
    links.columns.some((link) => link.match !== 'synonym' && covers(link, index) && link.end - link.start > 1)
  /** "When did we last buy paint?" asks for the newest date of its rows. */
  const occasions = words.flatMap(({ text }, index) => (words[0]?.text === 'when' && OCCASIONS.has(text) && !isNamed(index) ? [index] : []))
  return (query) => {
    const { operation } = query
    const all = listAllConditions(query)
    const isRestricted = (index: number) => links.conditions.some(({ start, condition }) => start > index && all.includes(condition))
    if (!restrictions.every(isRestricted) || (isStill && all.length === 0)) return false
    const isOverlapped = ({ start, end }: Span) => words.some((_, index) => covers({ start, end }, index) && isStated(index, all))
    if (!said.every(isOverlapped)) return false
    const used = new Set(listUsedColumns(query))
    // "Booked people who did not come" are a column.
    const isInUsed = (index: number) =>
      links.columns.some(
        (link) => (link.match === 'exact' || DEBT_STEMS.has(words[index]?.stem ?? '')) && covers(link, index) && used.has(link.column),
      )
    if (!states.every((index) => isStated(index, all) || isInUsed(index))) return false
    const isUsed = (index: number) => links.columns.some(({ start, column }) => start === index && used.has(column))
    if (!done.every((index) => isStated(index, all) || isUsed(index))) return false
    if (occasions.some((index) => !isStated(index, all)) && dates.columns.length > 0)
      return operation.kind === 'top' && operation.key === operation.column && dates.columns.includes(operation.key)
    const headers = [...used].map((column) => table.columns[column]?.header.replaceAll('_', ' ') ?? '')
    // What was ordered is not in stock.
    if (isInStock && !headers.some((header) => STOCK.test(header) || (hasStock && QUANTITY.test(header)))) return false
    const shown = 'key' in operation && operation.key !== undefined ? operation.key : 'column' in operation ? operation.column : undefined
    return units === undefined || (shown !== undefined && units.has(shown))
  }
}
