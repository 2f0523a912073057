/** Writes the SQL that shows from which rows a result was computed. */
import type { Query } from '../query.ts'
import type { SqlValue, TypedTable } from '../typed-table.ts'
import { createSelect, getName, getOrder, quoteText, writeCondition, writeGrouping, writeHaving, writeNth } from './write-sql.ts'

/** Groups of a result whose rows are shown. */
const MAX_GROUPS = 50

/** Selects the rows that a query used, with their numbers: of groups and extremes, those of the result. */
export function writeRowsSql(table: TypedTable, { conditions, operation }: Query, result: readonly SqlValue[][], limit: number): string {
  // The row that says "no" is the one that the value names.
  const isDenied = operation.kind === 'exists' && result[0]?.[0] === 0
  const used = isDenied ? conditions.filter((condition) => condition.kind === 'equals' && condition.reading === 'text') : conditions
  if (isDenied && used.length === 0) return writeRowsSql(table, { conditions, operation: { kind: 'count' } }, result, limit)
  const select = createSelect(table, used)
  const cells = ['rowid', ...table.columns.map((_, column) => getName(table, column, 'text'))].join(', ')
  const selectRows = (extra: readonly string[] = [], order = '') => select(cells, extra, `${order} LIMIT ${limit}`)
  switch (operation.kind) {
    case 'top': {
      const key = getName(table, operation.key, operation.reading)
      if (operation.limit > 1) return selectRows([`${key} IS NOT NULL`], ` ORDER BY ${key} ${getOrder(operation.direction)}`)
      return selectRows([`${key} = (${writeNth(key, operation, select)})`])
    }
    case 'edge': {
      const order = operation.from === 'first' ? 'ASC' : 'DESC'
      return select(cells, [], ` ORDER BY rowid ${order} LIMIT ${Math.min(limit, operation.limit)} OFFSET ${operation.position - 1}`)
    }
    case 'neighbor': {
      const found = select(operation.offset > 0 ? 'MAX(rowid)' : 'MIN(rowid)')
      const range = `(${found}) + ${Math.min(0, operation.offset)} AND (${found}) + ${Math.max(0, operation.offset)}`
      return createSelect(table, [])(cells, [`rowid BETWEEN ${range}`], ` LIMIT ${limit}`)
    }
    case 'aggregate': {
      const value = result[0]?.[0]
      const isExtreme = operation.aggregate === 'max' || operation.aggregate === 'min'
      return selectRows(isExtreme && typeof value === 'number' ? [`${getName(table, operation.column, 'number')} = ${value}`] : [])
    }
    case 'group': {
      if (!operation.direction) return selectRows()
      const names = result.slice(0, MAX_GROUPS).map(([name]) => quoteText(name ?? ''))
      return selectRows([`${writeGrouping(table, operation)} IN (${names.join(', ')})`])
    }
    case 'quantified': {
      const [isTrue, found] = result[0] ?? []
      const isOfAll = ['all', 'most', 'whole'].includes(operation.quantifier as string)
      // The rows that say "no" are those that are otherwise.
      const met = `(${conditions.map((condition) => writeCondition(table, condition)).join(' AND ')})`
      const shown = isOfAll && isTrue === 0 && operation.by === undefined ? [`${met} IS NOT TRUE`] : isOfAll || found === 0 ? [] : [met]
      return createSelect(table, operation.among)(cells, shown, ` LIMIT ${limit}`)
    }
    case 'share':
      return selectRows(operation.among.map((condition) => writeCondition(table, condition)))
    case 'having':
      return selectRows([`${getName(table, operation.by, 'text')} IN (${writeHaving(table, operation, select)})`])
    case 'contrast':
    case 'difference':
    case 'difference_of_counts':
      return selectRows([`(${operation.rows.map((row) => `(${writeCondition(table, row)})`).join(' OR ')})`])
    default:
      return selectRows()
  }
}

/** Counts all rows that a query used. */
export const writeRowCountSql = (table: TypedTable, query: Query, result: readonly SqlValue[][]): string =>
  `SELECT COUNT(*) FROM (${writeRowsSql(table, query, result, table.rowCount)})`
