/** Writes a query as SQL that people can read and run. */
import { formatWeekday, WEEKDAY_NAMES } from '../cells/parse-cell.ts'
import { nameCondition } from '../describe-query.ts'
import type { Aggregate, Condition, Direction, Grouping, Operation, Query } from '../query.ts'
import type { Column, Reading, TypedTable } from '../typed-table.ts'

const KEYWORDS = new Set(
  `abort action add after all alter always analyze and any as asc attach autoincrement before begin between by cascade case cast check
  collate column commit conflict constraint create cross current database default deferrable deferred delete desc detach distinct do drop
  each else end escape except exclude exclusive exists explain fail filter first following for foreign from full generated glob group groups
  having if ignore immediate in index indexed initially inner insert instead intersect into is isnull join key last left like limit match
  materialized natural no not nothing notnull null nulls of offset on or order others outer over partition plan pragma preceding primary
  query raise range recursive references regexp reindex release rename replace restrict returning right rollback row rows savepoint select
  set table temp temporary then ties to transaction trigger unbounded union unique update using vacuum values view virtual when where
  window with without`.split(/\s+/),
)

/** Rows of a list that are shown; more are counted. */
export const MAX_LIST_ROWS = 1_000

export const quoteName = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) && !KEYWORDS.has(name) ? name : `"${name.replaceAll('"', '""')}"`

export const quoteText = (value: string | number) => (typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`)

export function writeSql(table: TypedTable, { conditions, operation }: Query): string {
  const from = quoteName(table.name)
  const select = createSelect(table, conditions)
  const text = (column: number) => getName(table, column, 'text')
  /** The row in the middle of each group, or the two rows. */
  const selectMiddle = (key: number, by = 'NULL') => {
    const number = getName(table, key, 'number')
    const group = `OVER (PARTITION BY ${by}`
    const ordered = `ROW_NUMBER() ${group} ORDER BY ${number}) AS place, COUNT(*) ${group}) AS size`
    const rows = select(`${by} AS name, ${number} AS number, ${ordered}`, [
      `${number} IS NOT NULL`,
      ...(by === 'NULL' ? [] : [`${by} IS NOT NULL`]),
    ])
    return `(${rows}) WHERE place IN ((size + 1) / 2, (size + 2) / 2)`
  }
  switch (operation.kind) {
    case 'list':
      return operation.column === undefined
        ? select(table.columns.map((_, column) => text(column)).join(', '), [], ` LIMIT ${MAX_LIST_ROWS}`)
        : select(`DISTINCT ${text(operation.column)}`, [`${text(operation.column)} IS NOT NULL`], ` LIMIT ${MAX_LIST_ROWS}`)
    case 'count':
      return select('COUNT(*)')
    case 'count_values':
      return select(`COUNT(DISTINCT ${text(operation.column)})`)
    case 'aggregate':
      if (operation.aggregate === 'median') return `SELECT ${writeMedian(table, operation.column)} FROM ${selectMiddle(operation.column)}`
      return select(writeAggregate(table, operation.aggregate, operation.column))
    case 'top': {
      const key = getName(table, operation.key, operation.reading)
      // What is largest, and how large it is.
      const shown = operation.column === operation.key ? text(operation.column) : `${text(operation.column)}, ${key}`
      if (operation.limit > 1)
        return select(shown, [`${key} IS NOT NULL`], ` ORDER BY ${key} ${getOrder(operation.direction)} LIMIT ${operation.limit}`)
      return select(`DISTINCT ${shown}`, [`${key} = (${writeNth(key, operation, select)})`])
    }
    case 'edge': {
      const order = operation.from === 'first' ? 'ASC' : 'DESC'
      const offset = operation.position > 1 ? ` OFFSET ${operation.position - 1}` : ''
      return select(text(operation.column), [], ` ORDER BY rowid ${order} LIMIT ${operation.limit}${offset}`)
    }
    case 'neighbor': {
      const found = select(operation.offset > 0 ? 'MAX(rowid)' : 'MIN(rowid)')
      return `SELECT ${text(operation.column)} FROM ${from} WHERE rowid = (${found}) ${operation.offset > 0 ? '+' : '-'} 1`
    }
    case 'group': {
      const { and, key, aggregate, direction, limit = 1 } = operation
      const by = writeGrouping(table, operation)
      const amount = key === undefined ? 'COUNT(*)' : writeAggregate(table, aggregate, key)
      const notEmpty = `${by} IS NOT NULL`
      if (and) {
        const second = writeGrouping(table, and)
        const groups = `${by}, ${second}`
        return select(
          `${groups}, ${amount}`,
          [notEmpty, `${second} IS NOT NULL`],
          ` GROUP BY ${groups} ORDER BY 1, 2 LIMIT ${MAX_LIST_ROWS}`,
        )
      }
      const order = isInOrder(table, operation) ? '1' : '2 DESC, 1'
      if (aggregate === 'median' && key !== undefined) {
        const sorted = direction ? `2 ${getOrder(direction)} LIMIT ${limit}` : `${order} LIMIT ${MAX_LIST_ROWS}`
        return [
          `WITH all_groups AS (SELECT name, ${writeMedian(table, key)} AS number FROM ${selectMiddle(key, by)} GROUP BY name)`,
          `SELECT name, number FROM all_groups ORDER BY ${sorted}`,
        ].join(' ')
      }
      if (!direction) return select(`${by}, ${amount}`, [notEmpty], ` GROUP BY ${by} ORDER BY ${order} LIMIT ${MAX_LIST_ROWS}`)
      if (limit > 1) return select(`${by}, ${amount}`, [notEmpty], ` GROUP BY ${by} ORDER BY 2 ${getOrder(direction)} LIMIT ${limit}`)
      // All groups with the same number are first.
      const groups = select(`${by} AS name, ${amount} AS number`, [notEmpty], ` GROUP BY ${by}`)
      const extreme = writeNth('number', { ...operation, direction }, (what, _, rest = '') => `SELECT ${what} FROM all_groups${rest}`)
      return `WITH all_groups AS (${groups}) SELECT name, number FROM all_groups WHERE number = (${extreme}) LIMIT ${MAX_LIST_ROWS}`
    }
    case 'having': {
      const names = writeHaving(table, operation, select)
      return operation.isCounted ? `SELECT COUNT(*) FROM (${names})` : `${names} LIMIT ${MAX_LIST_ROWS}`
    }
    case 'contrast': {
      const { key, aggregate, direction } = operation
      const amount = key === undefined ? 'COUNT(*)' : writeAggregate(table, aggregate, key)
      if (operation.isVerdict) {
        const [first, second] = operation.rows.map((row) => `(${select(amount, [writeCondition(table, row)])})`)
        const verdict = `a ${direction === 'min' ? '<' : '>'} b`
        return `SELECT ${verdict}, a, b FROM (SELECT ${first} AS a, ${second} AS b) WHERE a IS NOT NULL AND b IS NOT NULL`
      }
      const both = operation.rows
        .map((row) => select(`${quoteText(nameCondition(table, row))} AS name, ${amount} AS number`, [writeCondition(table, row)]))
        .join(' UNION ALL ')
      if (!direction) return both
      return `WITH both AS (${both}) SELECT name, number FROM both WHERE number = (SELECT ${direction.toUpperCase()}(number) FROM both)`
    }
    case 'share': {
      const among = operation.among.map((condition) => writeCondition(table, condition)).join(' AND ')
      const write = (key: number | undefined) => (key === undefined ? 'COUNT(*)' : `SUM(${getName(table, key, 'number')})`)
      const amount = write(operation.key)
      const where = conditions.map((condition) => writeCondition(table, condition)).join(' AND ')
      const part = operation.portion === undefined ? `${amount} FILTER (WHERE ${where})` : write(operation.portion)
      return `SELECT 100.0 * ${part} / ${amount} FROM ${from}${among === '' ? '' : ` WHERE ${among}`}`
    }
    case 'difference': {
      const { column, rows, aggregate = 'sum' } = operation
      const what = table.columns[column]?.readings.number
        ? writeAggregate(table, aggregate, column)
        : `julianday(${getName(table, column, 'date')})`
      const digits = aggregate === 'sum' ? (table.columns[column]?.scale ?? 0) : undefined
      return writeDifference(
        rows.map((row) => select(what, [writeCondition(table, row)])),
        digits,
      )
    }
    case 'difference_of_counts':
      return writeDifference(operation.rows.map((row) => select('COUNT(*)', [writeCondition(table, row)])))
    case 'same': {
      const shared = text(operation.shared)
      const found = select('rowid')
      return `SELECT DISTINCT ${text(operation.column)} FROM ${from} WHERE ${shared} IN (${select(shared)}) AND rowid NOT IN (${found})`
    }
    case 'exists':
      return `SELECT EXISTS (${select('1')})`
    case 'quantified': {
      const where = conditions.map((condition) => writeCondition(table, condition)).join(' AND ')
      const counted = operation.by === undefined ? 'CASE WHEN' : `DISTINCT CASE WHEN`
      const of = operation.by === undefined ? '1' : text(operation.by)
      const total = operation.by === undefined ? 'COUNT(*)' : `COUNT(DISTINCT ${of})`
      const counts = createSelect(table, operation.among)(`COUNT(${counted} ${where} THEN ${of} END) AS found, ${total} AS total`)
      const { quantifier } = operation
      if (typeof quantifier === 'object')
        return `SELECT found ${OPERATORS[quantifier.comparison]} ${quantifier.value}, found, total FROM (${counts})`
      // Of no rows, nothing is said, nor of those of which only some are so, if no word says how many must be.
      const isClear = quantifier === 'whole' ? 'total > 0 AND (found = 0 OR found = total)' : 'total > 0'
      return `SELECT ${VERDICTS[quantifier]}, found, total FROM (${counts}) WHERE ${isClear}`
    }
  }
}

/** Writes a SELECT of `what` with further conditions and an end. */
type Select = (what: string, extra?: readonly string[], rest?: string) => string

export function createSelect(table: TypedTable, conditions: readonly Condition[]): Select {
  const where = conditions.map((condition) => writeCondition(table, condition))
  return (what, extra = [], rest = '') => {
    const all = [...where, ...extra]
    return `SELECT ${what} FROM ${quoteName(table.name)}${all.length > 0 ? ` WHERE ${all.join(' AND ')}` : ''}${rest}`
  }
}

/** The largest or smallest value, or the nth. */
export function writeNth(name: string, { direction, position = 1 }: { direction: Direction; position?: number }, select: Select): string {
  if (position === 1) return select(`${direction.toUpperCase()}(${name})`)
  return select(`DISTINCT ${name}`, [`${name} IS NOT NULL`], ` ORDER BY 1 ${getOrder(direction)} LIMIT 1 OFFSET ${position - 1}`)
}

export function writeHaving(
  table: TypedTable,
  { by, key, aggregate, comparison, value }: Extract<Operation, { kind: 'having' }>,
  select: Select,
): string {
  const name = getName(table, by, 'text')
  const amount = key === undefined ? 'COUNT(*)' : writeAggregate(table, aggregate, key)
  return select(name, [`${name} IS NOT NULL`], ` GROUP BY ${name} HAVING ${amount} ${OPERATORS[comparison]} ${value}`)
}

/** The difference, then the two numbers. */
function writeDifference(selects: readonly string[], digits = 0): string {
  const [first, second] = selects.map((select) => `(${select})`)
  const difference = `ABS(${first} - ${second})`
  return `SELECT ${digits > 0 ? `ROUND(${difference}, ${digits})` : difference}, ${first}, ${second}`
}

const PERIOD_HEADER = /quarter|month|week|year|\bday\b|\bterm\b|semester/i
const DATE_LENGTHS = { year: 4, month: 7, day: 10 }

export function writeGrouping(table: TypedTable, { by, part }: Grouping): string {
  if (!part) return getName(table, by, 'text')
  const date = getName(table, by, 'date')
  if (part === 'quarter') return `substr(${date}, 1, 4) || '-Q' || ((substr(${date}, 6, 2) + 2) / 3)`
  if (part === 'weekday') {
    const names = WEEKDAY_NAMES.map((_, day) => `WHEN ${day} THEN ${quoteText(formatWeekday(day))}`).join(' ')
    return `CASE ${writeWeekday(date)} ${names} END`
  }
  return `substr(${date}, 1, ${DATE_LENGTHS[part]})`
}

/** Months and floors are shown in their order, other groups by their number. */
function isInOrder({ columns }: TypedTable, { by, part }: Grouping): boolean {
  const { readings, header = '' } = columns[by] ?? {}
  return part !== undefined || readings?.number !== undefined || readings?.date !== undefined || PERIOD_HEADER.test(header)
}

const writeWeekday = (date: string) => `CAST(strftime('%w', substr(${date}, 1, 10)) AS INTEGER)`

export const getOrder = (direction: Direction) => (direction === 'max' ? 'DESC' : 'ASC')

export function getName(table: TypedTable, index: number, reading: Reading): string {
  const { readings, expression } = table.columns[index] as Column
  return expression ?? quoteName(readings[reading] ?? readings.text)
}

/** Sums of decimal numbers are computed in whole numbers of their smallest part, such as cents: they are exact. */
function writeAggregate(table: TypedTable, aggregate: Aggregate, column: number): string {
  const name = getName(table, column, 'number')
  const scale = table.columns[column]?.scale ?? 0
  const factor = 10 ** scale
  const sum = scale > 0 ? `SUM(CAST(ROUND(${name} * ${factor}) AS INTEGER))` : `SUM(${name})`
  if (aggregate === 'sum') return scale > 0 ? `${sum} / ${factor}.0` : sum
  // One division is rounded once.
  if (aggregate === 'average') return scale > 0 ? `${sum} / (${factor}.0 * COUNT(${name}))` : `AVG(${name})`
  return aggregate === 'count' ? 'COUNT(*)' : `${aggregate.toUpperCase()}(${name})`
}

/** Half of the sum of two numbers has one digit more than they. */
const writeMedian = (table: TypedTable, column: number): string => `ROUND(AVG(number), ${(table.columns[column]?.scale ?? 0) + 1})`

const VERDICTS = { all: 'found = total', most: 'found * 2 > total', no: 'found = 0', whole: 'found = total' }
const OPERATORS = { more: '>', less: '<', at_least: '>=', at_most: '<=', equal: '=' }

export function writeCondition(table: TypedTable, condition: Condition): string {
  switch (condition.kind) {
    case 'equals': {
      const name = getName(table, condition.column, condition.reading)
      const [first = ''] = condition.values
      if (condition.isNegated) return `(${name} IS NULL OR ${name} NOT IN (${condition.values.map(quoteText).join(', ')}))`
      return condition.values.length === 1 ? `${name} = ${quoteText(first)}` : `${name} IN (${condition.values.map(quoteText).join(', ')})`
    }
    case 'contains':
      return `${getName(table, condition.column, 'text')} LIKE ${quoteText(`%${condition.phrase}%`)}`
    case 'dates': {
      const name = getName(table, condition.column, 'date')
      const bounds = [
        ...(condition.from === undefined ? [] : [`${name} >= ${quoteText(condition.from)}`]),
        ...(condition.to === undefined ? [] : [`${name} < ${quoteText(condition.to)}`]),
      ]
      return bounds.join(' AND ')
    }
    case 'numbers':
      return `${getName(table, condition.column, 'number')} ${OPERATORS[condition.comparison]} ${condition.value}`
    case 'between':
      return `${getName(table, condition.column, 'number')} BETWEEN ${condition.from} AND ${condition.to}`
    case 'months': {
      const months = condition.months.map((month) => quoteText(String(month).padStart(2, '0')))
      return `substr(${getName(table, condition.column, 'date')}, 6, 2) IN (${months.join(', ')})`
    }
    case 'weekdays':
      return `${writeWeekday(getName(table, condition.column, 'date'))} IN (${condition.days.join(', ')})`
    case 'empty': {
      const { readings } = table.columns[condition.column] as Column
      return `${quoteName(readings.number ?? readings.date ?? readings.text)} IS ${condition.isNegated ? 'NOT ' : ''}NULL`
    }
    case 'all':
      return condition.conditions.map((each) => writeCondition(table, each)).join(' AND ')
    case 'than_column': {
      const [name, other] = [condition.column, condition.other].map((column) => getName(table, column, condition.reading))
      return `${name} ${OPERATORS[condition.comparison]} ${other}`
    }
    case 'than_row': {
      const name = getName(table, condition.column, condition.reading)
      const value = `SELECT ${name} FROM ${quoteName(table.name)} WHERE ${writeCondition(table, condition.row)}`
      return `${name} ${OPERATORS[condition.comparison]} (${value})`
    }
  }
}
