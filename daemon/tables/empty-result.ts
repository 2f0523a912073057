/** Decides whether "none" answers a question, and says which dates a table has. */
import type { Condition, Query } from './query.ts'
import type { RunSql } from './rank-queries.ts'
import { getName, quoteName, writeSql } from './sql/write-sql.ts'
import type { SqlValue, TypedTable } from './typed-table.ts'

interface RunQuery {
  table: TypedTable
  query: Query
  run: RunSql
}

/** Conditions that rows need not meet. If no row meets another one, the question may mean something else. */
const STATES: ReadonlySet<Condition['kind']> = new Set(['all', 'than_column', 'empty', 'dates'])
const OPERATIONS: ReadonlySet<Query['operation']['kind']> = new Set(['list', 'aggregate', 'top', 'group'])

export const isEmptyResult = (rows: readonly (readonly SqlValue[])[]): boolean =>
  rows.every(([value]) => value === null || value === undefined)

/** Whether no row meets all conditions, although there are rows for each value that they name. */
export function canBeEmpty({ table, query: { operation, conditions }, run }: RunQuery): boolean {
  const columns = new Set(conditions.map(({ column }) => column))
  if (columns.size === 0 || columns.size < conditions.length || !OPERATIONS.has(operation.kind)) return false
  const isMet = (all: Condition[]) => run(writeSql(table, { conditions: all, operation: { kind: 'exists' } }))[0]?.[0] === 1
  return !isMet(conditions) && conditions.every((condition) => STATES.has(condition.kind) || isMet([condition]))
}

/** "Date is from 2025-01-03 to 2025-06-30." where the question asks for other dates. */
export function describeRange({ table, query: { conditions }, run }: RunQuery): string | undefined {
  const column = conditions.find(({ kind }) => kind === 'dates')?.column
  if (column === undefined) return undefined
  const name = getName(table, column, 'date')
  const [first, last] = run(`SELECT MIN(${name}), MAX(${name}) FROM ${quoteName(table.name)}`)[0] ?? []
  return `${table.columns[column]?.header} is from ${first} to ${last}.`
}
