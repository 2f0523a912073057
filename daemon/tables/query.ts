/** A query over one table. It is written as SQL and described in plain words. */
import type { Reading } from './typed-table.ts'

export type NumberComparison = 'more' | 'less' | 'at_least' | 'at_most'
export type SizeComparison = NumberComparison | 'equal'

export type Condition =
  | { kind: 'equals'; column: number; reading: Reading; values: (string | number)[]; isNegated?: true }
  | { kind: 'contains'; column: number; phrase: string }
  /** Dates are prefixes of ISO dates; `to` is excluded. */
  | { kind: 'dates'; column: number; from?: string; to?: string }
  | { kind: 'numbers'; column: number; comparison: NumberComparison; value: number }
  | { kind: 'between'; column: number; from: number; to: number }
  | { kind: 'months'; column: number; months: readonly number[] }
  /** Sunday is 0. */
  | { kind: 'weekdays'; column: number; days: readonly number[] }
  | { kind: 'empty'; column: number; isNegated?: true }
  /** More or less than the value of the row that meets the other condition. */
  | { kind: 'than_row'; column: number; reading: Reading; comparison: 'more' | 'less'; row: Condition }
  /** Several conditions that one word states: "overdue" is due before today and not paid. */
  | { kind: 'all'; column: number; conditions: readonly Condition[] }
  /** More or less than another column of the same row. */
  | { kind: 'than_column'; column: number; reading: Reading; comparison: NumberComparison; other: number }

export type Aggregate = 'count' | 'sum' | 'average' | 'median' | 'min' | 'max'
export type Direction = 'max' | 'min'
export type DatePart = 'year' | 'quarter' | 'month' | 'day' | 'weekday'

/** What rows are grouped by: a column, or a part of its dates. */
export interface Grouping {
  by: number
  part?: DatePart
}

export type Operation =
  /** The values of a column, or whole rows if there is no column. */
  | { kind: 'list'; column?: number }
  | { kind: 'count' }
  | { kind: 'count_values'; column: number }
  | { kind: 'aggregate'; aggregate: Exclude<Aggregate, 'count'>; column: number }
  /** The column of the rows with the largest or smallest key, or the nth largest. */
  | { kind: 'top'; key: number; reading: Reading; direction: Direction; limit: number; position?: number; column: number }
  /** The column of the nth row from the start or the end. */
  | { kind: 'edge'; from: 'first' | 'last'; position: number; limit: number; column: number }
  /** The column of the row after or before the row found. */
  | { kind: 'neighbor'; offset: 1 | -1; column: number }
  /** Groups with a number each; only those with the largest or smallest one if there is a direction. */
  | (Grouping & {
      kind: 'group'
      /** The second grouping of "by region and month". */
      and?: Grouping
      aggregate: Aggregate
      key?: number
      direction?: Direction
      limit?: number
      position?: number
    })
  /** The groups whose number of rows or aggregate is in a range, or how many these are: "customers with at least two orders". */
  | {
      kind: 'having'
      by: number
      aggregate: 'count' | 'sum' | 'average'
      key?: number
      comparison: SizeComparison
      value: number
      isCounted: boolean
    }
  /** The percentage of the rows, or of the sum of a column, that meets the conditions, or that is in another column; of some rows. */
  | { kind: 'share'; key?: number; portion?: number; among: Condition[] }
  /** The same computed for two conditions, or the one with the larger or smaller result, or whether that is the first one. */
  | {
      kind: 'contrast'
      rows: [Condition, Condition]
      aggregate: Exclude<Aggregate, 'median'>
      key?: number
      direction?: Direction
      isVerdict?: true
    }
  /** The difference between the values of two rows, or the sums or averages of several, or of a count for two values. */
  | { kind: 'difference'; column: number; rows: [Condition, Condition]; aggregate?: 'average' }
  | { kind: 'difference_of_counts'; rows: [Condition, Condition] }
  /** The column of other rows that share a value with the row found. */
  | { kind: 'same'; shared: number; column: number }
  /** Whether there are rows. */
  | { kind: 'exists' }
  /** Whether all, most, none or a number of some rows meet the conditions, or of the values of a column. "Whole": all or none. */
  | {
      kind: 'quantified'
      quantifier: 'all' | 'most' | 'no' | 'whole' | { comparison: NumberComparison; value: number }
      among: Condition[]
      by?: number
    }

export interface Query {
  conditions: Condition[]
  operation: Operation
}

/** Returns all conditions of a query, also those that its operation has. */
export const listAllConditions = ({ conditions, operation }: Query): Condition[] => [
  ...conditions,
  ...('rows' in operation ? operation.rows : []),
  ...('among' in operation ? operation.among : []),
]

/** Returns the columns that a query compares, orders, groups or shows. */
export function listUsedColumns(query: Query): number[] {
  const { operation } = query
  const listColumns = (condition: Condition): number[] => [
    condition.column,
    ...('other' in condition ? [condition.other] : []),
    ...('row' in condition ? listColumns(condition.row) : []),
    ...('conditions' in condition ? condition.conditions.flatMap(listColumns) : []),
  ]
  const own: Partial<Record<'column' | 'key' | 'by' | 'shared', number>> = operation as object
  const others = [
    own.column,
    own.key,
    own.by,
    own.shared,
    operation.kind === 'share' ? operation.portion : undefined,
    'and' in operation ? operation.and?.by : undefined,
  ]
  return [...new Set([...others.filter((column) => column !== undefined), ...listAllConditions(query).flatMap(listColumns)])]
}

/** "Crime" and "novel" cannot both be the genre of a book. */
export const contradicts = (conditions: readonly Condition[]): boolean => {
  const values = new Set(conditions.flatMap((each) => (each.kind === 'equals' && !each.isNegated ? [JSON.stringify(each)] : [])))
  return new Set([...values].map((value) => (JSON.parse(value) as Condition).column)).size < values.size
}

/** Whether a condition leaves only one value of the column. */
export const isSingleValue = (condition: Condition, column: number | undefined): boolean =>
  condition.kind === 'equals' && condition.column === column && condition.values.length === 1 && !condition.isNegated
