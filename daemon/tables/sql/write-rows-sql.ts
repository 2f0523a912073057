/** Writes the SQL that shows from which rows a result was computed. */
import type { Query } from '../query.ts'
import type { SqlValue, TypedTable } from '../typed-table.ts'
import { getName, getOrder, quoteName, quoteText, writeCondition, writeGrouping, writeHaving, writeNth } from './write-sql.ts'

/** Groups of a result whose rows are shown. */
const MAX_GROUPS = 50

/** Selects the rows that a query used, with their numbers: of groups and extremes, those of the result. */
export function writeRowsSql(table: TypedTable, { conditions, operation }: Query, result: readonly SqlValue[][], limit: number): string {
  const from = quoteName(table.name)
  // The row that says "no" is the one that the value names.
  const isDenied = operation.kind === 'exists' && result[0]?.[0] === 0
  const used = isDenied ? conditions.filter((condition) => condition.kind === 'equals' && condition.reading === 'text') : conditions
  if (isDenied && used.length === 0) return writeRowsSql(table, { conditions, operation: { kind: 'count' } }, result, limit)
  const all = used.map((condition) => writeCondition(table, condition))
  const where = (extra: readonly string[]) => ([...all, ...extra].length > 0 ? ` WHERE ${[...all, ...extra].join(' AND ')}` : '')
  const texts = table.columns.map((_, column) => getName(table, column, 'text')).join(', ')
  const select = (rest: string) => `SELECT rowid, ${texts} FROM ${from}${rest} LIMIT ${limit}`
  switch (operation.kind) {
    case 'top': {
      const key = getName(table, operation.key, operation.reading)
      if (operation.limit > 1) return select(`${where([`${key} IS NOT NULL`])} ORDER BY ${key} ${getOrder(operation.direction)}`)
      const nth = writeNth(key, operation, (what, extra = [], rest = '') => `SELECT ${what} FROM ${from}${where(extra)}${rest}`)
      return select(where([`${key} = (${nth})`]))
    }
    case 'edge':
      return [
        `SELECT rowid, ${texts} FROM ${from}${where([])} ORDER BY rowid ${operation.from === 'first' ? 'ASC' : 'DESC'}`,
        `LIMIT ${Math.min(limit, operation.limit)} OFFSET ${operation.position - 1}`,
      ].join(' ')
    case 'neighbor': {
      const found = `SELECT ${operation.offset > 0 ? 'MAX' : 'MIN'}(rowid) FROM ${from}${where([])}`
      return select(` WHERE rowid BETWEEN (${found}) + ${Math.min(0, operation.offset)} AND (${found}) + ${Math.max(0, operation.offset)}`)
    }
    case 'aggregate': {
      const value = result[0]?.[0]
      const isExtreme = operation.aggregate === 'max' || operation.aggregate === 'min'
      return select(where(isExtreme && typeof value === 'number' ? [`${getName(table, operation.column, 'number')} = ${value}`] : []))
    }
    case 'group': {
      if (!operation.direction) return select(where([]))
      const names = result.slice(0, MAX_GROUPS).map(([name]) => quoteText(name ?? ''))
      return select(where([`${writeGrouping(table, operation)} IN (${names.join(', ')})`]))
    }
    case 'share':
      return select(where(operation.among.map((condition) => writeCondition(table, condition))))
    case 'having': {
      const names = writeHaving(table, operation, (what, extra = [], rest = '') => `SELECT ${what} FROM ${from}${where(extra)}${rest}`)
      return select(where([`${getName(table, operation.by, 'text')} IN (${names})`]))
    }
    case 'contrast':
    case 'difference':
    case 'difference_of_counts':
      return select(where([`(${operation.rows.map((row) => `(${writeCondition(table, row)})`).join(' OR ')})`]))
    default:
      return select(where([]))
  }
}

/** Counts all rows that a query used. */
export const writeRowCountSql = (table: TypedTable, query: Query, result: readonly SqlValue[][]): string =>
  `SELECT COUNT(*) FROM (${writeRowsSql(table, query, result, table.rowCount)})`
