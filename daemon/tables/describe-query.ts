/** Describes in plain words how a query computes its result. */
import { formatColumnNumber, formatNumber } from './cells/format-value.ts'
import { formatMonth, formatWeekday, formatYearMonth } from './cells/parse-cell.ts'
import type { Aggregate, Condition, Direction, Grouping, Operation, Query } from './query.ts'
import type { Reading, SqlValue, TypedTable } from './typed-table.ts'

const COMPARISON_WORDS = { more: 'more than', less: 'less than', at_least: 'at least', at_most: 'at most', equal: 'exactly' }
const DATE_WORDS = { more: 'later than', less: 'earlier than', at_least: 'not earlier than', at_most: 'not later than' }
const getComparisonWords = ({ reading }: { reading: Reading }) => (reading === 'date' ? DATE_WORDS : COMPARISON_WORDS)
const AGGREGATE_WORDS: Record<Exclude<Aggregate, 'count'>, string> = {
  sum: 'Added up',
  average: 'Averaged',
  median: 'Took the median of',
  min: 'Took the smallest',
  max: 'Took the largest',
}
const MAX_VALUES = 5

export function describeQuery(table: TypedTable, { conditions, operation }: Query, [result]: readonly SqlValue[][] = []): string {
  const rows = `the rows of ${table.title}`
  const where = conditions.length === 0 ? '' : ` where ${describeConditions(table, conditions)}`
  const header = (column: number) => describeColumn(table, column)
  switch (operation.kind) {
    case 'list':
      return operation.column === undefined ? `Listed ${rows}${where}.` : `Looked up ${header(operation.column)} in ${rows}${where}.`
    case 'count':
      return `Counted ${rows}${where}.`
    case 'count_values':
      return `Counted the different values of ${header(operation.column)} in ${rows}${where}.`
    case 'aggregate':
      return `${AGGREGATE_WORDS[operation.aggregate]} ${header(operation.column)} in ${rows}${where}.`
    case 'top': {
      const order = operation.direction === 'max' ? 'largest' : 'smallest'
      const extreme = `the ${formatPosition(operation.position)}${order} ${header(operation.key)}`
      const among = conditions.length === 0 ? '' : `, of those${where}`
      const rowsFound = operation.limit > 1 ? `the ${operation.limit} rows of ${table.title}` : `the row of ${table.title}`
      return `Looked up ${header(operation.column)} in ${rowsFound} with ${extreme}${among}.`
    }
    case 'edge':
      return `Looked up ${header(operation.column)} in ${describePosition(operation)} of ${table.title}${where}.`
    case 'neighbor':
      return `Looked up ${header(operation.column)} in the row ${operation.offset > 0 ? 'after' : 'before'} that of ${table.title}${where}.`
    case 'group':
      return describeGroups(table, operation, where)
    case 'having': {
      const size =
        operation.key === undefined
          ? `${COMPARISON_WORDS[operation.comparison]} ${operation.value} rows`
          : `${NOUNS[operation.aggregate]} of ${header(operation.key)} of ${COMPARISON_WORDS[operation.comparison]} ${operation.value}`
      const verb = operation.isCounted ? 'counted' : 'listed'
      return `Grouped ${rows}${where} by ${header(operation.by)} and ${verb} the groups with ${size}.`
    }
    case 'contrast': {
      const { key, aggregate, direction, isVerdict } = operation
      const isAverage = aggregate === 'average'
      const format = (value: SqlValue | undefined) =>
        isVerdict && typeof value === 'number'
          ? ` (${key === undefined ? formatNumber(value) : formatColumnNumber(table, key, value, isAverage)})`
          : ''
      const [first, second] = operation.rows.map((row, index) => `${describeCondition(table, row)}${format(result?.[index + 1])}`)
      const verb = key === undefined ? `Counted ${rows}` : `${aggregateColumn(table, aggregate, key)} in ${rows}`
      const taken = direction ? `, and took the ${direction === 'max' ? 'larger' : 'smaller'} result` : ''
      return `${verb}${where}${where ? ' and ' : ' where '}${first}, and where ${second}${isVerdict ? ', and compared' : taken}.`
    }
    case 'share': {
      const of = operation.key === undefined ? rows : `${header(operation.key)} in ${rows}`
      const among = operation.among.length === 0 ? '' : ` where ${describeConditions(table, operation.among)}`
      const part =
        operation.portion === undefined ? `where ${describeConditions(table, conditions)}` : `that ${header(operation.portion)} is`
      return `Computed the percentage ${part}, of ${of}${among}.`
    }
    case 'difference': {
      const { column, aggregate = 'sum' } = operation
      const verb = table.columns[column]?.readings.number ? aggregateColumn(table, aggregate, column) : `Took ${header(column)}`
      return `${verb} in ${rows}${where}${describeDifference(table, operation, where, result)}`
    }
    case 'difference_of_counts':
      return `Counted ${rows}${where}${describeDifference(table, operation, where, result)}`
    case 'same':
      return `Looked up ${header(operation.column)} in rows of ${table.title} with the ${header(operation.shared)} of the row${where}.`
    case 'exists':
      return `Checked whether ${table.title} has rows${where}.`
    case 'quantified': {
      const among = operation.among.length === 0 ? '' : ` where ${describeConditions(table, operation.among)}`
      const counted = operation.by === undefined ? rows : `the values of ${header(operation.by)} in ${rows}`
      const numbers = result === undefined ? '' : `${result[1]} of ${result[2]} `
      return `Counted ${counted}${among}: ${numbers}${operation.by === undefined ? '' : 'have rows '}${where.trimStart()}.`
    }
  }
}

const NOUNS = { count: 'a number', sum: 'a sum', average: 'an average' }

const aggregateColumn = (table: TypedTable, aggregate: Aggregate, column: number) =>
  `${aggregate === 'count' ? 'Counted' : AGGREGATE_WORDS[aggregate]} ${describeColumn(table, column)}`

/** "… where Region is North (120), and where Region is South (150), and subtracted: the second is larger." */
function describeDifference(
  table: TypedTable,
  operation: Extract<Operation, { kind: 'difference' | 'difference_of_counts' }>,
  where: string,
  result: readonly SqlValue[] = [],
): string {
  const format = (value: number) =>
    operation.kind === 'difference'
      ? formatColumnNumber(table, operation.column, value, operation.aggregate !== undefined)
      : formatNumber(value)
  const isDate = operation.kind === 'difference' && !table.columns[operation.column]?.readings.number
  const numbers = isDate ? [] : result.slice(1)
  const [first, second] = operation.rows.map((row, index) => {
    const number = numbers[index]
    return `${describeCondition(table, row)}${typeof number === 'number' ? ` (${format(number)})` : ''}`
  })
  const [a, b] = numbers
  const larger = typeof a !== 'number' || typeof b !== 'number' || a === b ? '' : `: the ${a > b ? 'first' : 'second'} is larger`
  return `${where ? ' and ' : ' where '}${first}, and where ${second}, and subtracted${larger}.`
}

/** Names the columns of a result that has several. */
export function nameResult(table: TypedTable, { operation }: Query): string[] {
  const header = (column: number) => describeColumn(table, column)
  if (operation.kind === 'list' && operation.column === undefined) return table.columns.map((_, index) => header(index))
  if (operation.kind === 'top' && operation.column !== operation.key) return [header(operation.column), header(operation.key)]
  if ((operation.kind !== 'group' && operation.kind !== 'contrast') || ('isVerdict' in operation && operation.isVerdict)) return []
  const { key, aggregate } = operation
  const name = ({ by, part }: Grouping) => (part ? `${header(by)} (${part})` : header(by))
  const groups =
    operation.kind === 'group' ? [operation, ...(operation.and ? [operation.and] : [])].map(name) : [header(operation.rows[0].column)]
  return [...groups, key === undefined || aggregate === 'count' ? 'Rows' : `${header(key)} (${aggregate})`]
}

function describePosition({ from, position, limit }: Extract<Operation, { kind: 'edge' }>): string {
  if (limit > 1) return `the ${from} ${limit} rows`
  if (position === 1) return `the ${from} row`
  return from === 'first' ? `row ${position}` : `row ${position} from the end`
}

function describeGroups(
  table: TypedTable,
  { by, part, and, aggregate, key, direction, limit = 1, position }: Extract<Operation, { kind: 'group' }>,
  where: string,
): string {
  const computed =
    key === undefined || aggregate === 'count'
      ? 'counted them'
      : `${AGGREGATE_WORDS[aggregate].toLowerCase()} ${describeColumn(table, key)}`
  const name = (grouping: Grouping) =>
    grouping.part ? `the ${grouping.part} of ${describeColumn(table, grouping.by)}` : describeColumn(table, grouping.by)
  const group = [{ by, ...(part ? { part } : {}) }, ...(and ? [and] : [])].map(name).join(' and ')
  const chosen = direction
    ? `; took the ${limit > 1 ? `${limit} groups` : 'group'} with the ${formatPosition(position)}${getExtreme(aggregate, direction)}`
    : ''
  return `Grouped the rows of ${table.title}${where} by ${group} and ${computed}${chosen}.`
}

const ORDINALS = ['', '', 'second ', 'third ', 'fourth ', 'fifth ']
const formatPosition = (position = 1): string => ORDINALS[position] ?? `${position}th `

const getExtreme = (aggregate: Aggregate, direction: Direction) =>
  aggregate === 'count' ? (direction === 'max' ? 'most' : 'least') : direction === 'max' ? 'largest result' : 'smallest result'

export const describeConditions = (table: TypedTable, conditions: readonly Condition[]): string =>
  conditions.map((condition) => describeCondition(table, condition)).join(' and ')

const describeColumn = (table: TypedTable, column: number): string => table.columns[column]?.header || `column ${column + 1}`

function describeCondition(table: TypedTable, condition: Condition): string {
  const header = describeColumn(table, condition.column)
  switch (condition.kind) {
    case 'equals':
      if (table.columns[condition.column]?.type === 'boolean') return `${header} is ${condition.values[0] === 1 ? 'yes' : 'no'}`
      return `${header} is ${condition.isNegated ? 'not ' : ''}${joinValues(condition.values.map(String))}`
    case 'contains':
      return `${header} contains ${condition.phrase}`
    case 'dates':
      return `${header} is ${describePeriod(condition)}`
    case 'numbers':
      return `${header} is ${COMPARISON_WORDS[condition.comparison]} ${condition.value}`
    case 'between':
      return `${header} is between ${condition.from} and ${condition.to}`
    case 'months':
      return `${header} is in ${joinValues(condition.months.map(formatMonth))}`
    case 'weekdays':
      return `${header} is on a ${joinValues(condition.days.map(formatWeekday))}`
    case 'empty':
      return `${header} is ${condition.isNegated ? 'not ' : ''}empty`
    case 'all':
      return describeConditions(table, condition.conditions)
    case 'than_column':
      return `${header} is ${getComparisonWords(condition)[condition.comparison]} ${describeColumn(table, condition.other)}`
    case 'than_row':
      return `${header} is ${getComparisonWords(condition)[condition.comparison]} where ${describeCondition(table, condition.row)}`
  }
}

/** Names what a condition chooses: "Sales" for the department Sales, "March" for dates in March. */
export function nameCondition(table: TypedTable, condition: Condition): string {
  switch (condition.kind) {
    case 'equals':
      return table.columns[condition.column]?.type === 'boolean'
        ? describeCondition(table, condition)
        : joinValues(condition.values.map(String))
    case 'contains':
      return condition.phrase
    case 'months':
      return joinValues(condition.months.map(formatMonth))
    case 'weekdays':
      return joinValues(condition.days.map(formatWeekday))
    case 'dates':
      return isOneUnit(condition) ? formatYearMonth(String(condition.from)) : describePeriod(condition)
    default:
      return describeCondition(table, condition)
  }
}

/** Whether dates are those of one month or year. */
const isOneUnit = ({ from = '', to = '' }: { from?: string; to?: string }): boolean =>
  Number(to.replace('-', '')) - Number(from.replace('-', '')) === 1 || (from.endsWith('-12') && Number(to) - Number(from.slice(0, 4)) === 1)

function describePeriod({ from, to }: Extract<Condition, { kind: 'dates' }>): string {
  if (from === undefined) return to?.endsWith('~') ? `until ${to.slice(0, -1)}` : `before ${to}`
  if (to === undefined) return from.endsWith('~') ? `after ${from.slice(0, -1)}` : `in or after ${from}`
  if (isOneUnit({ from, to })) return `in ${formatYearMonth(from)}`
  if (!to.endsWith('~')) return `from ${from} and before ${to}`
  const last = to.slice(0, -1)
  return from === last ? from : `from ${from} to ${last}`
}

function joinValues(values: readonly string[]): string {
  const shown = values.length > MAX_VALUES ? [...values.slice(0, MAX_VALUES - 1), `${values.length - MAX_VALUES + 1} others`] : values
  return shown.length === 1 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`
}
