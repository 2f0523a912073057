/** Excludes queries whose result cannot answer a question in its form: a list does not answer "how many". */
import { findNameColumn, isIdentifier } from './infer-columns.ts'
import type { ColumnLink, Links } from './link-question.ts'
import { findDatePart, type Question, splitWords, type Word } from './parse-question.ts'
import type { Condition, Operation, Query } from './query.ts'
import type { Column, TypedTable } from './typed-table.ts'
import {
  AGE_DIRECTIONS,
  AGGREGATE_WORDS,
  AMBIGUOUS_DIRECTIONS,
  DISTINCT_WORDS,
  MODAL_WORDS,
  MONEY_WORDS,
  SIZE_WORDS,
  STOP_WORDS,
  TIME_WORDS,
  TRIGGERS,
} from './vocabulary.ts'

const DIFFERENCES: ReadonlySet<Operation['kind']> = new Set(['difference', 'difference_of_counts'])

type Form = 'count' | 'amount' | 'boolean' | 'selection'

/** Words before the name of what each group has. */
const EVERY_WORDS: ReadonlySet<string> = new Set(['per', 'each', 'every'])
const IMPERATIVES: ReadonlySet<string> = new Set(['list', 'show', 'display', 'give', 'find', 'get'])
const POLITE = /^(?:(?:can|could|would|will) you(?: please)?|please|i (?:want|need) to (?:know|see))\s+/i
/** "How do I", "how are refunds paid": the ways of doing something are in texts. */
const PROCEDURE = /^(?:how (?:do|does|did|can|could|should|to|is|are|was|were|would|must|may)|why)\b/i
const PLACE_IN_ORDER = /rank|position|place|pos\b|time|duration|no\b/i
const NOT_ADDITIVE = /(?:^|[\s_])(?:unit|price|rate|age|year|percentage|score|rating|average|avg)(?:$|[\s_])/i

/** Whether the question asks how to do something or what is allowed, which no table says. */
export function asksForText({ text, words }: Question): boolean {
  return PROCEDURE.test(text.trim()) || words.slice(0, 2).some((word) => MODAL_WORDS.has(word.text))
}

/** Removes "could you please". */
export const removePoliteness = (text: string): string => text.trim().replace(POLITE, '')

export const asksForNumber = ({ words }: Question): boolean => ['count', 'amount'].includes(getForm(words))

/** Several values answer neither "how many" nor "how much". */
export const suitsResult = (question: Question, { operation }: Query, rows: readonly unknown[]): boolean =>
  operation.kind !== 'list' || rows.length <= 1 || !asksForNumber(question)

/** Returns a function that says whether a query answers the question in its form. */
export function createSuitability(question: Question, table: TypedTable, links: Links): (query: Query) => boolean {
  const { words } = question
  const form = getForm(words)
  const texts = new Set(words.map(({ text }) => text))
  const asksForMoney = words.some(({ text }) => MONEY_WORDS.has(text))
  const hasAggregateWord = words.some(({ text }) => AGGREGATE_WORDS.has(text))
  const hasMoney = table.columns.some(isMoney)
  const asksForDistinct = words.some(({ text }) => DISTINCT_WORDS.has(text))
  const asksForDifference = texts.has('difference') || /\bhow (?:many|much) (?:more|less|fewer)\b.*\bthan\b/i.test(question.text)
  const linked = new Set(links.columns.map(({ column }) => column))
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
  const isMinOfUncertainWord = words.some(({ text }) => AMBIGUOUS_DIRECTIONS.has(text))

  /** "List all orders from Italy" asks for rows, "list the customers of orders" for a column. */
  const title = words.findIndex(({ stem }) => titleStems.has(stem))
  const asksForRows = IMPERATIVES.has(words[0]?.text ?? '') && title > 0 && !links.columns.some(({ start }) => start < title)
  const grouped = findGrouping(question, table, links)
  /** "Ticket" in tickets.csv numbers the rows. */
  const isRowNumber = (column: number): boolean =>
    column === 0 && columnAt(0).type === 'integer' && splitWords(columnAt(0).header).every(({ stem }) => titleStems.has(stem))
  /** A column that the question does not name is added up only if it is an amount. */
  const canAggregate = (column: number, aggregate: string): boolean => {
    if (isRowNumber(column)) return false
    if (named.has(column)) return true
    if (aggregate === 'sum' && NOT_ADDITIVE.test(columnAt(column).header)) return false
    if ((form === 'amount' || asksForMoney) && hasMoney && !linked.has(column)) return isMoney(columnAt(column))
    return true
  }
  const canShow = (column: number): boolean => {
    if (form === 'count' || form === 'amount')
      return columnAt(column).readings.number !== undefined && !isIdentifier(columnAt(column).header)
    if (form === 'boolean') return false
    if (texts.has('when') && columnAt(column).readings.date === undefined && columnAt(column).type !== 'integer') return false
    return nouns.size === 0 || nouns.has(column)
  }

  return ({ operation, conditions }: Query): boolean => {
    if (operation.kind === 'exists') return form === 'boolean'
    if (grouped && !(operation.kind === 'group' && grouped(operation))) return false
    if (asksForDifference && links.conditions.length > 1 && !DIFFERENCES.has(operation.kind)) return false
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
          (asksForDistinct || !columnAt(operation.column).readings.number)
        )
      case 'aggregate':
        return form !== 'boolean' && canAggregate(operation.column, operation.aggregate)
      case 'group':
        return canGroup(operation)
      case 'top':
        return canShow(operation.column) && canOrder(operation)
      case 'difference':
        return form !== 'boolean' && canSubtract(operation.column)
      case 'edge':
        return canShow(operation.column) && !asksForSize && !(asksForTime && hasDates) && !age
      case 'neighbor':
      case 'same':
        return canShow(operation.column)
      default:
        return form !== 'boolean'
    }
  }

  function canSubtract(column: number): boolean {
    if (!columnAt(column).readings.number) return asksForDays
    return linked.has(column) || (form === 'amount' && isMoney(columnAt(column)))
  }

  function canOrder({ key, reading, direction }: Extract<Operation, { kind: 'top' }>): boolean {
    if (isRowNumber(key)) return false
    if (isMinOfUncertainWord && direction === 'min' && !isOrder(columnAt(key))) return false
    if (age) return ageColumn < 0 ? reading === 'date' && direction !== age : key === ageColumn && direction === age
    if (asksForTime && hasDates) return reading === 'date'
    return !(asksForSize && reading === 'date')
  }

  function canGroup({ by, part, key, aggregate }: Extract<Operation, { kind: 'group' }>): boolean {
    if (form === 'boolean' || !(part || linked.has(by))) return false
    const { header, readings } = columnAt(by)
    if (!part && (readings.number || readings.date || isIdentifier(header)) && !exact.has(by)) return false
    if (key === undefined) return true
    return (linked.has(key) || hasAggregateWord || asksForMoney || form === 'amount') && canAggregate(key, aggregate)
  }
}

/** Returns the groups that "per month" and "for each customer" ask for. */
function findGrouping(
  question: Question,
  { columns }: TypedTable,
  links: Links,
): ((group: Extract<Operation, { kind: 'group' }>) => boolean) | undefined {
  const { words } = question
  const part = findDatePart(question)
  if (part && columns.some(({ readings }) => readings.date) && !links.columns.some(({ start }) => words[start]?.text === part))
    return (group) => group.part === part
  const names = links.columns.filter(({ start }) => EVERY_WORDS.has(words[start - 1]?.text ?? '')).map(({ column }) => column)
  return names.length === 0 ? undefined : ({ by }) => names.includes(by)
}

function getForm(words: readonly Word[]): Form {
  const texts = words.map(({ text }) => text)
  const how = texts.indexOf('how')
  if (how >= 0 && texts[how + 1] === 'many') return 'count'
  if (how >= 0 && texts[how + 1] === 'much') return 'amount'
  if ((TRIGGERS.boolean as readonly string[]).includes(texts[0] ?? '') && !texts.includes('or')) return 'boolean'
  return 'selection'
}

/** Whether a condition leaves only one value of the column. */
const isSingleValue = (condition: Condition, column: number | undefined): boolean =>
  condition.kind === 'equals' && condition.column === column && condition.values.length === 1 && !condition.isNegated

const isMoney = ({ type, scale, readings }: Column) =>
  readings.number !== undefined && (type === 'currency' || (type === 'decimal' && scale > 0))
const isOrder = ({ type, header }: Column) => type === 'duration' || type === 'date' || PLACE_IN_ORDER.test(header)

/** The columns that the first word after "which" or "what" names, or "who" itself. */
function listNouns(words: readonly Word[], columns: readonly Column[], links: readonly ColumnLink[]): Set<number> {
  const start = words.findIndex(({ text }) => ['which', 'what', 'who', 'whose'].includes(text))
  if (start < 0) return new Set()
  const isLinked = (index: number) => links.some((link) => link.start <= index && link.end > index)
  let index = start
  while (index < words.length && !isLinked(index) && STOP_WORDS.has(words[index]?.text ?? '')) index++
  const nouns = links.filter((link) => link.start <= index && link.end > index)
  // "Which employee" asks for the name, not for the number in the column Employee ID.
  const getShown = ({ column, match }: ColumnLink) =>
    (match === 'part' && isIdentifier(columns[column]?.header ?? '') ? findNameColumn(columns) : undefined) ?? column
  return new Set(nouns.map(getShown))
}
