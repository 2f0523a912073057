/** Finds what a question over a table asks for, and in which form: money, averages, shares, places, the most rows. */
import { findLesserAmounts, isAdditive, isMoney, isScore, isTotal, PLACE_IN_ORDER } from './cells/column-roles.ts'
import { type ColumnLink, isInHeader, isOfState, type Links } from './linking/links.ts'
import { countsMeasure, findMost } from './linking/measured-nouns.ts'
import { findNamedColumns } from './linking/named-columns.ts'
import { asksForOtherMoney } from './linking/other-money.ts'
import type { Demands } from './linking/question-demands.ts'
import { asksForSpending, getForm } from './linking/question-form.ts'
import { asksForLargestGroup, asksForMostRows, hasPeople, isDoer } from './linking/question-nouns.ts'
import { PEOPLE_WORDS } from './linking/role-words.ts'
import { covers, listLimits, type Question } from './parse-question.ts'
import type { Column, TypedTable } from './typed-table.ts'
import {
  AGE_DIRECTIONS,
  AGGREGATE_WORDS,
  AMBIGUOUS_DIRECTIONS,
  CURRENCY_STEMS,
  DISTINCT_WORDS,
  FREQUENCY_WORDS,
  GROUP_WORDS,
  MONEY_STEMS,
  PARTICULAR_SUPERLATIVES,
  SHARE_WORDS,
  SIZE_WORDS,
  TIME_WORDS,
  toStems,
  toWords,
} from './vocabulary.ts'
import { isPerUnit } from './wording/measured-units.ts'

/** "More … than" compares with a number, a row or a column. */
const COMPARATIVE = /\b(?:more|less|fewer|\w+er)\b.*\bthan\b(?<!other than|rather than)/i
const ABOVE_AVERAGE = /\b(?:above|below|than|over|under)(?: the| our)? average\b/i
const PAYING_STEMS = toStems('pay paid spend spent cost earn charge')
const IMPERATIVES = toWords('list show display give find get')

export function findQuestionTraits(question: Question, table: TypedTable, links: Links, demands: Demands) {
  const { words } = question
  const form = getForm(words)
  const texts = new Set(words.map(({ text }) => text))
  const namesCurrency = words.some(({ stem }, index) => CURRENCY_STEMS.has(stem) && words[index - 1]?.text === 'in')
  const isWay = (index: number) => words[index - 1]?.text === 'of' && words[index - 2]?.text === 'way'
  const asksForMoney = namesCurrency || words.some(({ stem }, index) => MONEY_STEMS.has(stem) && !isWay(index))
  const hasAggregateWord = words.some(({ text }) => AGGREGATE_WORDS.has(text))
  const hasMoney = table.columns.some(isMoney)
  const asksForDistinct = words.some(({ text }) => DISTINCT_WORDS.has(text))
  const columns = findNamedColumns(question, table, links)
  const { linked, named, exact, exactNumbers, measured, titleStems, isExact, isNumeric, isRowNumber } = columns
  const columnAt = (index: number) => table.columns[index] as Column
  const lesser = findLesserAmounts(table, named)
  const [asksForSize, asksForTime] = [SIZE_WORDS, TIME_WORDS].map((set) => words.some(({ text }) => set.has(text)))
  const age = words.map(({ text }) => AGE_DIRECTIONS[text]).find(Boolean)
  const ageColumn = table.columns.findIndex(({ header }) => /\bage\b/i.test(header))
  const hasDates = table.columns.some(({ readings }) => readings.date)
  const isRelated = links.conditions.some(({ condition }) => condition.kind === 'than_column')
  const comparesValues = COMPARATIVE.test(question.text) && !demands.contrast && !demands.size
  /** "What did the machines cost in total?" */
  const asksForSum = words[0]?.text === 'what' && asksForMoney && hasMoney && (hasAggregateWord || asksForSpending(question))
  const share = words.findIndex(({ text }, index) => SHARE_WORDS.has(text) && words[index + 1]?.text === 'of')
  const asksForShare = share >= 0 && !isExact(share)
  const asksForFrequency = words.some(({ text }) => FREQUENCY_WORDS.has(text))
  /** "Who was hired last?" asks for the latest date, not for the last row. */
  const isOrdered = texts.has('first') || texts.has('last')
  const namesDate = [...linked].some((column) => columnAt(column).readings.date !== undefined)
  const orderedDates = isOrdered && namesDate ? demands.dates.columns : []
  const many = words.findIndex(({ text }) => text === 'many')
  /** "How many customers": nothing else is between; "guided" is no guide. */
  const isCounted = (column: number) =>
    links.columns.some(({ column: other, start }) => {
      const isNoun = other === column && start > many && !words[start]?.text.endsWith('ed')
      return isNoun && words.slice(many + 1, start).every(({ isStop, isTitle }) => isStop && !isTitle)
    })
  /** "How many students does each teacher have?" counts students, not lessons. */
  const namesRows = words[many + 1]?.isTitle === true
  const countedNames =
    form === 'count' && !namesRows ? [...exact].filter((column) => columnAt(column).type === 'text' && isCounted(column)) : []
  const asksForAverage = ['average', 'mean', 'avg', 'median'].some((word) => texts.has(word)) && !ABOVE_AVERAGE.test(question.text)
  const asksForAmount = asksForAverage || (hasMoney && asksForMoney && demands.contrast !== undefined)
  /** "The top students": scores say who, if nothing else does. */
  const scores =
    ['top', 'best', 'worst'].some((word) => texts.has(word)) && exactNumbers.length === 0
      ? [...table.columns.keys()].filter((column) => isScore(columnAt(column)))
      : []
  const isMinOfUncertainWord = words.some(({ text }) => AMBIGUOUS_DIRECTIONS.has(text))
  /** "The best room" of a table with amounts: nothing says by which column, unless one has places in an order. */
  const isUnclearOrder = (key: number) =>
    isMinOfUncertainWord && exactNumbers.length === 0 && hasMoney && !PLACE_IN_ORDER.test(columnAt(key).header)

  /** "List all orders from Italy" asks for rows, "list the customers of orders" for a column. */
  const title = words.findIndex(({ stem }) => titleStems.has(stem))
  const asksForRows = IMPERATIVES.has(words[0]?.text ?? '') && title > 0 && !links.columns.some(({ start }) => start < title)
  const asksForGroups = words.some(
    ({ text }, at) => GROUP_WORDS.has(text) && !isInHeader(links, at) && !isPerUnit(words, at, table, links) && !isOfState(links, at),
  )
  /** No other column says how long something is; what is cheapest, amounts of money say. */
  const particular = words.filter(({ text }) => PARTICULAR_SUPERLATIVES.has(text))
  const canMeasure = (column: Column) => particular.every(({ text }) => ['cheapest', 'expensive'].includes(text) && isMoney(column))
  const isMeasured = (link: ColumnLink) => isNumeric(link) && !isRowNumber(link.column)
  /** "How many people", "how many orders". */
  const countsRows =
    words[many + 1]?.isTitle === true && many >= 0 && !links.columns.some((link) => link.start === many + 1 && isMeasured(link))
  const addsUp = form === 'count' && countsMeasure(words, table, links, isMeasured)
  const isMostOfRows = asksForMostRows(words, links, hasMoney, isMeasured)
  const most = findMost(words)
  /** "Which trainer costs the most per hour?" compares rates, which are not added up. */
  const namesRate = [...named].some((column) => isMoney(columnAt(column)) && !isAdditive(columnAt(column), table))
  // "The most in hire fees".
  const object = words[most + 1]?.text === 'in' ? [most + 2, most + 3] : [most + 1]
  const isMostOfMeasure = links.columns.some((link) => most >= 0 && object.includes(link.start) && isMeasured(link))
  /** "Who spent the most?" asks for sums, not for the row with the largest amount. */
  const asksForLargestSum =
    hasMoney && !isMostOfRows && !namesRate && ((asksForMoney && most >= 0) || asksForLargestGroup(words, table, links, measured))
  const asksForCost =
    asksForMoney && !namesRate && table.columns.some((column, index) => linked.has(index) && isMoney(column) && isAdditive(column, table))
  /** "When did it get there?" names none of several dates. */
  const isUnclearDate = (column: number | undefined): boolean =>
    column !== undefined &&
    !links.columns.some((link) => link.column === column && !['when', 'date', 'day'].includes(words[link.start]?.text ?? '')) &&
    columnAt(column).readings.date !== undefined &&
    table.columns.filter(({ readings }) => readings.date).length > 1

  /** "In which month did we sell the most?" is not about tickets. */
  const isElsewhere =
    asksForOtherMoney(question, table, links, exactNumbers.length > 0) ||
    (texts.has('who') && asksForLargestSum && !hasPeople(table.columns))

  /** "Below 55 percent" is a number. */
  const namesShare = words.some(({ text }, index) => SHARE_WORDS.has(text) && words[index - 1]?.number === undefined && !isExact(index))
  const paysMoney = namesCurrency || ((form === 'amount' || words[0]?.text === 'what') && words.some(({ stem }) => PAYING_STEMS.has(stem)))
  const asksForThings = ['which', 'who', 'whose'].some((word) => texts.has(word))
  /** "Overall" asks for sums, "total" of the column Total does not. */
  const hasSumWord =
    ['total', 'overall', 'altogether', 'combined'].some((word) => texts.has(word)) && ![...named].some((at) => isTotal(columnAt(at)))
  /** "The largest quantity" is that of the column Quantity. */
  const isSized = (link: ColumnLink) => link.match === 'exact' && SIZE_WORDS.has(words[link.start - 1]?.text ?? '') && isMeasured(link)
  const sized = new Set(links.columns.filter(isSized).map(({ column }) => column))

  /** "The total value of the stock" and "what is it worth" ask for money. */
  const asksForValue = hasMoney && words.some(({ text }, index) => text === 'worth' || (text === 'value' && !isExact(index)))
  /** "The total of all options" is a sum, "the total number" is not. */
  const isTotalOf = (index: number) => ['total', 'sum'].includes(words[index]?.text ?? '') && words[index + 1]?.text === 'of'
  const asksForTotal = hasMoney && form !== 'count' && words.some((_, index) => isTotalOf(index) && !isExact(index))
  /** "At least 5" is no limit of "least". */
  const isCompared = (index: number) => question.numbers.some((each) => each.comparison !== 'equal' && covers(each, index))
  const hasLimit = form === 'selection' && listLimits(question).some(({ start }) => !isCompared(start))
  /** "How many people handle invoices" are those of the column "Handled by". */
  const doers =
    many >= 0 && PEOPLE_WORDS.has(words[many + 1]?.text ?? '')
      ? links.columns.flatMap(({ column, match }) => (match !== 'synonym' && isDoer(columnAt(column)) ? [column] : []))
      : []
  /** "List all customers" asks for the values of a column. */
  const isListed = ({ start, end, match, column }: ColumnLink) =>
    match !== 'synonym' &&
    columnAt(column).type === 'text' &&
    !words[start]?.isTitle &&
    !words[end]?.isTitle &&
    words.slice(0, start).every(({ isStop, isTitle }) => isStop && !isTitle)
  const listedColumn = IMPERATIVES.has(words[0]?.text ?? '') ? links.columns.find(isListed)?.column : undefined

  return {
    ...columns,
    asksForValue,
    asksForTotal,
    hasLimit,
    doers,
    listedColumn,
    form,
    texts,
    namesCurrency,
    asksForMoney,
    hasAggregateWord,
    hasMoney,
    lesser,
    asksForDistinct,
    age,
    ageColumn,
    hasDates,
    isRelated,
    comparesValues,
    asksForSum,
    asksForShare,
    asksForFrequency,
    orderedDates,
    many,
    isCounted,
    countedNames,
    asksForAverage,
    asksForAmount,
    scores,
    isMinOfUncertainWord,
    asksForRows,
    asksForGroups,
    particular,
    canMeasure,
    countsRows,
    addsUp,
    isMostOfRows,
    isMostOfMeasure,
    asksForLargestSum,
    asksForCost,
    isUnclearDate,
    isUnclearOrder,
    isElsewhere,
    asksForSize,
    asksForTime,
    namesShare,
    asksForThings,
    hasSumWord,
    paysMoney,
    sized,
  }
}
