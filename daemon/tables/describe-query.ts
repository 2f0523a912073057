/** Describes in plain words how a query computes its result. */
import { formatMonth } from './cells/parse-cell.ts'
import type { Aggregate, Condition, Direction, Operation, Query } from './query.ts'
import type { TypedTable } from './typed-table.ts'

const COMPARISON_WORDS = { more: 'more than', less: 'less than', at_least: 'at least', at_most: 'at most' }
const AGGREGATE_WORDS: Record<Exclude<Aggregate, 'count'>, string> = {
  sum: 'Added up',
  average: 'Averaged',
  median: 'Took the median of',
  min: 'Took the smallest',
  max: 'Took the largest',
}
const MAX_VALUES = 5

export function describeQuery(table: TypedTable, { conditions, operation }: Query): string {
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
      const extreme = `the ${operation.direction === 'max' ? 'largest' : 'smallest'} ${header(operation.key)}`
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
    case 'share': {
      const of = operation.key === undefined ? rows : `${header(operation.key)} in ${rows}`
      const among = operation.among.length === 0 ? '' : ` where ${describeConditions(table, operation.among)}`
      return `Computed the percentage of ${of}${among} that has ${describeConditions(table, conditions)}.`
    }
    case 'difference': {
      const [first, second] = operation.rows.map((row) => describeCondition(table, row))
      return `Subtracted ${header(operation.column)} of the rows of ${table.title} where ${first} and where ${second}.`
    }
    case 'difference_of_counts': {
      const [first, second] = operation.rows.map((row) => describeCondition(table, row))
      return `Counted ${rows} where ${first} and where ${second}, and subtracted.`
    }
    case 'same':
      return `Looked up ${header(operation.column)} in rows of ${table.title} with the ${header(operation.shared)} of the row${where}.`
    case 'exists':
      return `Checked whether ${table.title} has rows${where}.`
  }
}

/** Names the columns of a result that has several. */
export function nameResult(table: TypedTable, { operation }: Query): string[] {
  const header = (column: number) => describeColumn(table, column)
  if (operation.kind === 'list' && operation.column === undefined) return table.columns.map((_, index) => header(index))
  if (operation.kind !== 'group') return []
  const { by, part, key, aggregate } = operation
  const group = part ? `${header(by)} (${part})` : header(by)
  return [group, key === undefined || aggregate === 'count' ? 'Rows' : `${header(key)} (${aggregate})`]
}

function describePosition({ from, position, limit }: Extract<Operation, { kind: 'edge' }>): string {
  if (limit > 1) return `the ${from} ${limit} rows`
  if (position === 1) return `the ${from} row`
  return from === 'first' ? `row ${position}` : `row ${position} from the end`
}

function describeGroups(
  table: TypedTable,
  { by, part, aggregate, key, direction, limit = 1 }: Extract<Operation, { kind: 'group' }>,
  where: string,
): string {
  const computed =
    key === undefined || aggregate === 'count'
      ? 'counted them'
      : `${AGGREGATE_WORDS[aggregate].toLowerCase()} ${describeColumn(table, key)}`
  const group = part ? `the ${part} of ${describeColumn(table, by)}` : describeColumn(table, by)
  const chosen = direction ? `; took the ${limit > 1 ? `${limit} groups` : 'group'} with the ${getExtreme(aggregate, direction)}` : ''
  return `Grouped the rows of ${table.title}${where} by ${group} and ${computed}${chosen}.`
}

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
    case 'month':
      return `${header} is in ${formatMonth(condition.month)}`
    case 'empty':
      return `${header} is empty`
    case 'than_column':
      return `${header} is ${COMPARISON_WORDS[condition.comparison]} ${describeColumn(table, condition.other)}`
    case 'than_row':
      return `${header} is ${COMPARISON_WORDS[condition.comparison]} where ${describeCondition(table, condition.row)}`
  }
}

function describePeriod({ from, to }: Extract<Condition, { kind: 'dates' }>): string {
  if (from === undefined) return to?.endsWith('~') ? `until ${to.slice(0, -1)}` : `before ${to}`
  if (to === undefined) return from.endsWith('~') ? `after ${from.slice(0, -1)}` : `in or after ${from}`
  if (!to.endsWith('~')) return `from ${from} and before ${to}`
  const last = to.slice(0, -1)
  return from === last ? from : `from ${from} to ${last}`
}

function joinValues(values: readonly string[]): string {
  const shown = values.length > MAX_VALUES ? [...values.slice(0, MAX_VALUES - 1), `${values.length - MAX_VALUES + 1} others`] : values
  return shown.length === 1 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`
}
