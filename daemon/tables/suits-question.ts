/** Excludes queries whose result cannot answer a question in its form: a list does not answer "how many". */
import { isIdentifier, isMoney } from './infer-columns.ts'
import { type ColumnLink, isInHeader, type Links } from './linking/links.ts'
import { asksForNumber, getForm } from './linking/question-form.ts'
import { asksForMostRows, listNouns } from './linking/question-nouns.ts'
import { covers, findDatePart, type Question, splitWords, type Word } from './parse-question.ts'
import type { Condition, Direction, Operation, Query } from './query.ts'
import type { Column, TypedTable } from './typed-table.ts'
import {
  AGE_DIRECTIONS,
  AGGREGATE_WORDS,
  AMBIGUOUS_DIRECTIONS,
  COUNTING_SUPERLATIVES,
  DIRECTIONS,
  DISTINCT_WORDS,
  GROUP_WORDS,
  isSuperlative,
  MONEY_STEMS,
  PARTICULAR_SUPERLATIVES,
  SIZE_WORDS,
  TIME_WORDS,
} from './vocabulary.ts'

const DIFFERENCES: ReadonlySet<Operation['kind']> = new Set(['difference', 'difference_of_counts'])

const ROW_OPERATIONS: ReadonlySet<Operation['kind']> = new Set(['list', 'count', 'count_values'])

/** Words before the name of what each group has. */
const EVERY_WORDS: ReadonlySet<string> = new Set(['per', 'each', 'every'])
const IMPERATIVES: ReadonlySet<string> = new Set(['list', 'show', 'display', 'give', 'find', 'get'])
const SPENDING = /^what did .*\b(?:pay|spend|earn|collect|raise)\b/i
const DIFFERENCE_WORDS = /\b(?:difference|more|less|fewer|than|between|apart|gap|margin|\w+er)\b/i
/** "More … than" compares with a number, a row or a column. */
const COMPARATIVE = /\b(?:more|less|fewer|\w+er)\b.*\bthan\b(?<!other than|rather than)/i
const COMPARISONS_OF_VALUES: ReadonlySet<Condition['kind']> = new Set(['than_column', 'than_row', 'numbers', 'between', 'dates'])
const PLACE_IN_ORDER = /rank|position|place|pos\b|time|duration|no\b/i
const NOT_ADDITIVE = /(?:^|[\s_])(?:unit|price|rate|age|year|percentage|score|rating|average|avg)(?:$|[\s_])/i

/** Several values answer neither "how many" nor "how much". */
export const suitsResult = (question: Question, { operation }: Query, rows: readonly unknown[]): boolean =>
  operation.kind !== 'list' || rows.length <= 1 || !asksForNumber(question)

/** Returns a function that says whether a query answers the question in its form. */
export function createSuitability(question: Question, table: TypedTable, links: Links): (query: Query) => boolean {
  const { words } = question
  const form = getForm(words)
  const texts = new Set(words.map(({ text }) => text))
  const asksForMoney = words.some(({ stem }) => MONEY_STEMS.has(stem))
  const hasAggregateWord = words.some(({ text }) => AGGREGATE_WORDS.has(text))
  const hasMoney = table.columns.some(isMoney)
  const asksForDistinct = words.some(({ text }) => DISTINCT_WORDS.has(text))
  const asksForDifference = texts.has('difference') || /\bhow (?:many|much) (?:more|less|fewer)\b.*\bthan\b/i.test(question.text)
  // A word that names a column does not mean another one, too.
  const isExact = (index: number) => links.columns.some((link) => link.match === 'exact' && covers(link, index))
  const linked = new Set(links.columns.flatMap(({ column, match, start }) => (match === 'synonym' && isExact(start) ? [] : [column])))
  const named = new Set(links.columns.filter(({ match }) => match !== 'synonym').map(({ column }) => column))
  const exact = new Set(links.columns.filter(({ match }) => match === 'exact').map(({ column }) => column))
  const nouns = listNouns(words, table.columns, links.columns)
  const titleStems = new Set(splitWords(table.title.replaceAll(/[_./-]/g, ' ')).map(({ stem }) => stem))
  const columnAt = (index: number) => table.columns[index] as Column
  const [asksForSize, asksForTime] = [SIZE_WORDS, TIME_WORDS].map((set) => words.some(({ text }) => set.has(text)))
  const age = words.map(({ text }) => AGE_DIRECTIONS[text]).find(Boolean)
  const ageColumn = table.columns.findIndex(({ header }) => /\bage\b/i.test(header))
  const asksForDays = ['days', 'date', 'dates', 'long', 'time'].some((word) => texts.has(word))
  const hasDates = table.columns.some(({ readings }) => readings.date)
  const isRelated = links.conditions.some(({ condition }) => condition.kind === 'than_column')
  const comparesValues = COMPARATIVE.test(question.text) && !asksForDifference
  /** "What did the machines cost in total?" */
  const asksForSum = words[0]?.text === 'what' && asksForMoney && hasMoney && (hasAggregateWord || SPENDING.test(question.text))
  const asksForMedian = texts.has('median')
  const asksForFrequency = texts.has('often') || texts.has('frequently')
  /** "Who was hired last?" asks for the latest date, not for the last row. */
  const orderedDates = ['first', 'last'].some((word) => texts.has(word))
    ? [...linked].filter((column) => columnAt(column).readings.date !== undefined)
    : []
  const isNumeric = ({ column }: ColumnLink) => columnAt(column).readings.number !== undefined && columnAt(column).type !== 'boolean'
  /** "Heaviest" asks for the column Weight, but "the largest rent" not for the column Size. */
  const measured = new Set(
    links.columns
      .filter(({ start, match }) => match === 'synonym' && isSuperlative(words[start] as Word))
      .filter(({ start }) => !links.columns.some((link) => link.start === start + 1 && link.match !== 'synonym' && isNumeric(link)))
      .map(({ column }) => column),
  )
  const many = words.findIndex(({ text }) => text === 'many')
  /** "How many customers": nothing else is between. */
  const isCounted = (column: number) =>
    links.columns.some(
      (link) =>
        link.column === column && link.start > many && words.slice(many + 1, link.start).every(({ isStop, isTitle }) => isStop && !isTitle),
    )
  const exactHeaders = new Set(
    [...words.keys()].filter((index) =>
      links.columns.some((link) => link.match === 'exact' && link.end - link.start > 1 && covers(link, index)),
    ),
  )
  const exactNumbers = [...exact].filter((column) => columnAt(column).readings.number !== undefined)
  const isMinOfUncertainWord = words.some(({ text }) => AMBIGUOUS_DIRECTIONS.has(text))

  /** "List all orders from Italy" asks for rows, "list the customers of orders" for a column. */
  const title = words.findIndex(({ stem }) => titleStems.has(stem))
  const asksForRows = IMPERATIVES.has(words[0]?.text ?? '') && title > 0 && !links.columns.some(({ start }) => start < title)
  const grouped = findGrouping(question, table, links)
  const asksForGroups = words.some(({ text }, index) => GROUP_WORDS.has(text) && !isInHeader(links, index))
  /** "Ticket" in tickets.csv numbers the rows. */
  const isRowNumber = (column: number): boolean =>
    column === 0 && columnAt(0).type === 'integer' && splitWords(columnAt(0).header).every(({ stem }) => titleStems.has(stem))
  /** No other column says how long something is; what is cheapest, amounts of money say. */
  const particular = words.filter(({ text }) => PARTICULAR_SUPERLATIVES.has(text))
  const canMeasure = (column: Column) => particular.every(({ text }) => ['cheapest', 'expensive'].includes(text) && isMoney(column))
  const isMeasured = (link: ColumnLink) => isNumeric(link) && !isRowNumber(link.column)
  /** "How many people", "how many orders". */
  const countsRows =
    exactNumbers.length === 0 &&
    words[many + 1]?.isTitle === true &&
    many >= 0 &&
    !links.columns.some((link) => link.start === many + 1 && isMeasured(link))
  const isMostOfRows = asksForMostRows(words, links, isMeasured)
  /** "Who spent the most?" asks for sums, not for the row with the largest amount. */
  const asksForLargestSum = asksForMoney && hasMoney && !isMostOfRows && words.some(({ text }) => COUNTING_SUPERLATIVES.has(text))
  /** A column that the question does not name is added up only if it is an amount. */
  const canAggregate = (column: number, aggregate: string): boolean => {
    if (isRowNumber(column)) return false
    if (named.has(column)) return true
    if (aggregate === 'sum' && !isAdditive(columnAt(column))) return false
    if ((form === 'amount' || asksForMoney) && hasMoney && !linked.has(column)) return isMoney(columnAt(column))
    return true
  }
  const canShow = (column: number): boolean => {
    const { header, readings, type } = columnAt(column)
    const isName = isIdentifier(header) || isRowNumber(column)
    if (form === 'count' || form === 'amount') return readings.number !== undefined && type !== 'boolean' && !isName
    if (form === 'boolean') return false
    if (texts.has('when') && readings.date === undefined && (type !== 'integer' || isName)) return false
    return nouns.size === 0 || nouns.has(column)
  }

  /** "In which month did we sell the most?" is not about tickets. */
  const isElsewhere =
    !hasMoney &&
    exactNumbers.length === 0 &&
    words.some(
      ({ stem, isTitle }, index) =>
        MONEY_STEMS.has(stem) && !isTitle && ![...links.columns, ...links.conditions].some((span) => covers(span, index)),
    )

  return ({ operation, conditions }: Query): boolean => {
    if (isElsewhere || (asksForExtreme(conditions) && ROW_OPERATIONS.has(operation.kind))) return false
    if (operation.kind === 'exists') return form === 'boolean'
    if (isRelated && !conditions.some(({ kind }) => kind === 'than_column')) return false
    if (comparesValues && !conditions.some(({ kind }) => COMPARISONS_OF_VALUES.has(kind))) return false
    if (asksForSum && ROW_OPERATIONS.has(operation.kind)) return false
    if (asksForMedian && !('aggregate' in operation && operation.aggregate === 'median')) return false
    if (grouped && !(operation.kind === 'group' && grouped(operation))) return false
    if (asksForDifference && links.conditions.length > 1 && !DIFFERENCES.has(operation.kind)) return false
    // The difference of averages is not computed.
    if (DIFFERENCES.has(operation.kind) && (hasAggregateWord || !DIFFERENCE_WORDS.test(question.text))) return false
    if (asksForFrequency && form === 'selection' && operation.kind !== 'group') return false
    if ('direction' in operation && operation.direction && !isAskedFor(operation.direction, conditions)) return false
    if (operation.kind === 'aggregate' && (operation.aggregate === 'max' || operation.aggregate === 'min'))
      if (!isAskedFor(operation.aggregate, conditions)) return false
    switch (operation.kind) {
      case 'list':
        if (operation.column === undefined || asksForRows) return operation.column === undefined && form === 'selection'
        return canShow(operation.column) && !conditions.some((condition) => isSingleValue(condition, operation.column))
      case 'count':
        return form !== 'amount' && form !== 'boolean'
      case 'count_values':
        return (
          form !== 'amount' &&
          form !== 'boolean' &&
          linked.has(operation.column) &&
          (asksForDistinct || many < 0 || isCounted(operation.column)) &&
          (asksForDistinct || !columnAt(operation.column).readings.number)
        )
      case 'aggregate':
        return (
          form !== 'boolean' &&
          !countsRows &&
          !(form === 'count' && isMoney(columnAt(operation.column)) && !isCounted(operation.column)) &&
          canAggregate(operation.column, operation.aggregate) &&
          canTakeExtreme(operation) &&
          !isOtherNamed(operation.column, conditions)
        )
      case 'group':
        return canGroup(operation)
      case 'share':
        return form !== 'boolean' && (operation.key === undefined || !isRowNumber(operation.key))
      case 'top':
        return canShow(operation.column) && canOrder(operation)
      case 'difference':
        return form !== 'boolean' && canSubtract(operation.column)
      case 'edge':
        return canShow(operation.column) && !asksForSize && !(asksForTime && hasDates) && !age && orderedDates.length === 0
      case 'neighbor':
      case 'same':
        return canShow(operation.column)
      default:
        return form !== 'boolean'
    }
  }

  /** Words of a value, such as "Best Buy", ask for nothing. */
  function asksForExtreme(conditions: readonly Condition[]): boolean {
    const spans = links.conditions.filter(({ condition }) => conditions.includes(condition))
    return words.some(
      ({ text }, index) => (SIZE_WORDS.has(text) || PARTICULAR_SUPERLATIVES.has(text)) && !spans.some((span) => covers(span, index)),
    )
  }

  /** "First" of "the first half of 2025" and "last" of the column "Sold last week" ask for no order. */
  function isAskedFor(direction: Direction, conditions: readonly Condition[]): boolean {
    const spans = links.conditions.filter(({ condition }) => conditions.includes(condition))
    return words.some(
      ({ text }, index) => DIRECTIONS[direction].has(text) && !spans.some((span) => covers(span, index)) && !exactHeaders.has(index),
    )
  }

  function canSubtract(column: number): boolean {
    if (!columnAt(column).readings.number) return asksForDays
    return linked.has(column) || (form === 'amount' && isMoney(columnAt(column)))
  }

  /** "The median quantity" is that of the column Quantity, unless the column is part of a condition. */
  function isOtherNamed(column: number, conditions: readonly Condition[]): boolean {
    const isUsed = (other: number) => conditions.some((condition) => condition.column === other)
    return !linked.has(column) && exactNumbers.some((other) => !isUsed(other))
  }

  /** "What is the heaviest item?" asks for the item. */
  function canTakeExtreme({ aggregate, column }: Extract<Operation, { kind: 'aggregate' }>): boolean {
    if (aggregate !== 'max' && aggregate !== 'min') return true
    const isMeasure = measured.size === 0 ? canMeasure(columnAt(column)) : measured.has(column)
    return (nouns.size === 0 || nouns.has(column)) && isMeasure
  }

  function canOrder({ key, reading, direction }: Extract<Operation, { kind: 'top' }>): boolean {
    if (isRowNumber(key) || isMostOfRows || asksForLargestSum) return false
    if (measured.size > 0 && !measured.has(key)) return false
    if (isMinOfUncertainWord && direction === 'min' && !isOrder(columnAt(key))) return false
    if (age)
      return ageColumn < 0 ? (reading === 'date' || isYear(columnAt(key))) && direction !== age : key === ageColumn && direction === age
    if (isMinOfUncertainWord && exactNumbers.length === 0 && hasMoney && !PLACE_IN_ORDER.test(columnAt(key).header)) return false
    if (measured.size === 0 && !canMeasure(columnAt(key))) return false
    if (orderedDates.length > 0) return reading === 'date' && orderedDates.includes(key)
    if (asksForTime && hasDates) return reading === 'date'
    return !(asksForSize && reading === 'date')
  }

  function canGroup({ by, part, key, aggregate, direction }: Extract<Operation, { kind: 'group' }>): boolean {
    // "Who spent the most?" names no column.
    const isNamed = linked.has(by) || (texts.has('who') && nouns.has(by))
    if (form === 'boolean' || !(part || isNamed)) return false
    const { header, readings } = columnAt(by)
    if (!part && (readings.number || readings.date || isIdentifier(header)) && !exact.has(by)) return false
    if (isMinOfUncertainWord && direction === 'min') return false
    if (direction === undefined && !asksForGroups) return false
    // "The most expensive item we stock" asks for a price.
    if (particular.length > 0 && (key === undefined || !(measured.size === 0 ? canMeasure(columnAt(key)) : measured.has(key)))) return false
    if (key === undefined) return !isMinOfUncertainWord && !asksForLargestSum
    if (asksForFrequency) return false
    // "Which product has the highest unit price?" does not ask for the sum of prices.
    if (aggregate === 'sum' && !hasAggregateWord && !isAdditive(columnAt(key))) return false
    const isAmount = isMinOfUncertainWord && exactNumbers.length === 0 && isMoney(columnAt(key)) && isAdditive(columnAt(key))
    return (linked.has(key) || hasAggregateWord || asksForMoney || form === 'amount' || isAmount) && canAggregate(key, aggregate)
  }
}

/** Returns the groups that "per month" and "for each customer" ask for. */
function findGrouping(
  question: Question,
  { columns }: TypedTable,
  links: Links,
): ((group: Extract<Operation, { kind: 'group' }>) => boolean) | undefined {
  const { words } = question
  const names = links.columns.filter(({ start }) => EVERY_WORDS.has(words[start - 1]?.text ?? '')).map(({ column }) => column)
  if (names.length > 0) return ({ by }) => names.includes(by)
  const part = findDatePart(question, (index) => isInHeader(links, index))
  if (part && columns.some(({ readings }) => readings.date) && !links.columns.some(({ start }) => words[start]?.text === part))
    return (group) => group.part === part
  return undefined
}

/** Whether a condition leaves only one value of the column. */
const isSingleValue = (condition: Condition, column: number | undefined): boolean =>
  condition.kind === 'equals' && condition.column === column && condition.values.length === 1 && !condition.isNegated

const isYear = ({ header, type }: Column) => type === 'integer' && /\b(?:year|built)\b/i.test(header)
const isAdditive = ({ header, type }: Column) => type !== 'percentage' && (!NOT_ADDITIVE.test(header) || /\btotal\b/i.test(header))
const isOrder = ({ type, header }: Column) => type === 'duration' || type === 'date' || PLACE_IN_ORDER.test(header)
