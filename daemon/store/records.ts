/** Stores resources as rows: get, list, insert, update and delete for every family. */
import type { TSchema } from 'typebox'
import { createValidationError } from '../../src/contract/errors.ts'
import { getFields, getScalarType } from '../../src/contract/schemas/fields.ts'
import { DEFAULT_LIMIT, type ListQuery } from '../../src/contract/schemas/list-query.ts'
import { type DatabaseReader, type Row, runLater, type Transaction, type Value } from './database.ts'
import { createSortKey } from './sort-key.ts'

export interface StoredRecord {
  id: string
  version: number
  created_at: string
  updated_at: string
}

export interface Page<T> {
  items: T[]
  total: number
}

/** Equality conditions in addition to the caller's filters. A list matches any of its values. */
export type Scope = Record<string, Value | readonly Value[]>

/** A condition on the rows of a list. */
export interface Subset {
  sql: string
  values: readonly Value[]
  /** Number of rows that meet it. */
  size: number
}

type ColumnKind = 'plain' | 'boolean' | 'json'

interface RecordsOptions {
  table: string
  /** Schema of the resource; each field is a column. */
  schema: TSchema
  /** Computed fields, which are not stored. */
  computed?: readonly string[]
  /** Text columns that are not part of the resource. */
  hidden?: readonly string[]
}

const PAGING_FIELDS = new Set(['page', 'limit', 'sort', 'order'])
/** Names are sorted by this column, which is derived from them. */
const NAME_KEY = 'name_key'
const WHERE = ' WHERE '
const quote = (name: string) => `"${name}"`

/** SQLite truncates text at a NUL character and cannot store unpaired surrogates. */
export function checkText(field: string, text: string): void {
  if (text.includes('\u0000')) throw createValidationError(field, 'must not contain a NUL character')
  if (/\p{Surrogate}/u.test(text)) throw createValidationError(field, 'must be valid Unicode; it contains an unpaired surrogate')
}

export class Records<T extends StoredRecord> {
  readonly table: string
  readonly #columns = new Map<string, ColumnKind>()
  readonly #allColumns: string
  /** Selects one record. Composed once, because most requests run it. */
  readonly #selectById: string
  /** Columns whose values are stored in another form. */
  readonly #convertedColumns: readonly (readonly [name: string, kind: ColumnKind])[]
  readonly #writtenColumns: readonly string[]

  constructor({ table, schema, computed = [], hidden = [] }: RecordsOptions) {
    this.table = table
    for (const [name, field] of Object.entries(getFields(schema))) {
      if (computed.includes(name)) continue
      const type = getScalarType(field)
      this.#columns.set(name, type === undefined ? 'json' : type === 'boolean' ? 'boolean' : 'plain')
    }
    for (const name of [...hidden, 'version']) this.#columns.set(name, 'plain')
    this.#allColumns = this.#joinColumns(this.columnNames)
    this.#selectById = `SELECT ${this.#allColumns} FROM ${table} WHERE "id" = ?`
    this.#convertedColumns = [...this.#columns].filter(([, kind]) => kind !== 'plain')
    this.#writtenColumns = this.#columns.has('name') ? [...this.columnNames, NAME_KEY] : this.columnNames
  }

  get columnNames(): string[] {
    return [...this.#columns.keys()]
  }

  async get(reader: DatabaseReader, id: string, scope: Scope = {}): Promise<T | undefined> {
    const { where, values } = this.#buildWhere(scope)
    const row = await reader.get(where === '' ? this.#selectById : `${this.#selectById} AND ${where.slice(WHERE.length)}`, [id, ...values])
    return row && this.#toRecord(row)
  }

  /** Checks for existence without reading the record. */
  async has(reader: DatabaseReader, id: string, scope: Scope = {}): Promise<boolean> {
    const { where, values } = this.#buildWhere({ id, ...scope })
    return (await reader.get(`SELECT 1 FROM ${this.table}${where}`, values)) !== undefined
  }

  /** The oldest matching records. */
  async find(reader: DatabaseReader, scope: Scope, limit = 1): Promise<T[]> {
    const { where, values } = this.#buildWhere(scope)
    const rows = await reader.all(`SELECT ${this.#allColumns} FROM ${this.table}${where} ORDER BY id LIMIT ?`, [...values, limit])
    return rows.map((row) => this.#toRecord(row))
  }

  async list(reader: DatabaseReader, query: ListQuery, scope: Scope = {}, fields?: readonly string[], subset?: Subset): Promise<Page<T>> {
    const filters = Object.entries(query).filter(([name, value]) => !PAGING_FIELDS.has(name) && value !== undefined)
    // A filter that contradicts the scope matches nothing.
    if (filters.some(([name, value]) => Object.hasOwn(scope, name) && scope[name] !== value)) return { items: [], total: 0 }
    const filter = this.#buildWhere({ ...(Object.fromEntries(filters) as Scope), ...scope })
    const where = subset ? `${filter.where === '' ? ' WHERE' : `${filter.where} AND`} ${subset.sql}` : filter.where
    const values = subset ? [...filter.values, ...subset.values] : filter.values
    const limit = query.limit ?? DEFAULT_LIMIT
    const offset = ((query.page ?? 1) - 1) * limit
    const ascending = query.order === 'asc'
    const total = subset && filter.where === '' ? subset.size : await this.#count(reader, where, values, subset !== undefined)
    if (offset >= total) return { items: [], total }
    // Skips rows in the index only, from the nearer end, and fetches just the rows of the page.
    const length = Math.min(limit, total - offset)
    const behind = total - offset - length
    const fromEnd = behind < offset
    const page = `SELECT id FROM ${this.table}${where} ${this.#buildOrderBy(query.sort, ascending !== fromEnd)} LIMIT ? OFFSET ?`
    const selected = fields ? this.#joinColumns(fields) : this.#allColumns
    const rows = await reader.all(
      `SELECT ${selected} FROM ${this.table} WHERE id IN (${page}) ${this.#buildOrderBy(query.sort, ascending)}`,
      [...values, length, fromEnd ? behind : offset],
    )
    return { items: rows.map((row) => this.#toRecord(row)), total }
  }

  async insert(transaction: Transaction, record: T): Promise<void> {
    const values = this.#writtenColumns.map((name) => this.#toValue(name, record))
    await runLater(
      transaction,
      `INSERT INTO ${this.table} (${this.#joinColumns(this.#writtenColumns)}) VALUES (${values.map(() => '?').join(', ')})`,
      values,
    )
  }

  /** Optimistic locking: returns false if the record changed since it was read. */
  async update(transaction: Transaction, record: T): Promise<boolean> {
    const names = this.#writtenColumns.filter((name) => name !== 'id' && name !== 'version')
    const assignments = names.map((name) => `${quote(name)} = ?`).join(', ')
    const sql = `UPDATE ${this.table} SET ${assignments}, version = version + 1 WHERE id = ? AND version = ?`
    const values = names.map((name) => this.#toValue(name, record))
    return (await transaction.run(sql, [...values, record.id, record.version])) === 1
  }

  async delete(transaction: Transaction, id: string): Promise<void> {
    await runLater(transaction, `DELETE FROM ${this.table} WHERE id = ?`, [id])
  }

  async #count(reader: DatabaseReader, where: string, values: Value[], hasSubset: boolean): Promise<number> {
    const sql = `SELECT count(*) AS total FROM ${this.table}${where}`
    // Single rows are cached with their values, which are large with a subset.
    const counted = hasSubset
      ? (await reader.all<{ total: number }>(sql, values))[0]
      : where === ''
        ? await reader.get<{ total: number }>('SELECT total FROM counts WHERE name = ?', [this.table])
        : await reader.get<{ total: number }>(sql, values)
    return counted?.total ?? 0
  }

  #buildWhere(scope: Scope): { where: string; values: Value[] } {
    // The index of names contains their keys.
    const key = typeof scope.name === 'string' ? { [NAME_KEY]: createSortKey(scope.name) } : {}
    const conditions = Object.entries({ ...key, ...scope })
    if (conditions.length === 0) return { where: '', values: [] }
    const comparisons = conditions.map(([name, value]) =>
      Array.isArray(value) ? `${this.#quoteColumn(name)} IN (${value.map(() => '?').join(', ')})` : `${this.#quoteColumn(name)} = ?`,
    )
    const values = conditions.flatMap(([, value]) => value as Value).map((value) => (typeof value === 'boolean' ? Number(value) : value))
    return { where: `${WHERE}${comparisons.join(' AND ')}`, values }
  }

  /** Only known column names reach SQL. */
  #quoteColumn(name: string): string {
    if (!this.#columns.has(name) && name !== NAME_KEY) throw new Error(`${this.table} has no column "${name}"`)
    return quote(name)
  }

  /** Breaks ties by age and ID, in the order of the indexes, so that filters on indexed columns need no sorting either. */
  #buildOrderBy(sort = 'created_at', ascending = false): string {
    const direction = ascending ? 'ASC' : 'DESC'
    const columns = sort === 'created_at' ? ['created_at', 'id'] : [sort === 'name' ? NAME_KEY : sort, 'created_at', 'id']
    return `ORDER BY ${columns.map((name) => `${this.#quoteColumn(name)} ${direction}`).join(', ')}`
  }

  #joinColumns(fields: readonly string[]): string {
    return fields.map((name) => this.#quoteColumn(name)).join(', ')
  }

  #toValue(name: string, record: T): Value {
    const kind = this.#columns.get(name)
    if (name === NAME_KEY) return createSortKey((record as unknown as { name: string }).name)
    const value = (record as Record<string, unknown>)[name]
    if (value === null || value === undefined) return null
    if (typeof value === 'string') checkText(name, value)
    return kind === 'json' ? JSON.stringify(value) : kind === 'boolean' ? Number(value) : (value as Value)
  }

  /** Changes the row, of which the caller has the only copy. */
  #toRecord(row: Row): T {
    const record = row as Record<string, unknown>
    for (const [name, kind] of this.#convertedColumns) {
      const value = row[name]
      if (value === null || value === undefined) continue
      record[name] = kind === 'json' ? JSON.parse(value as string) : value === 1
    }
    return record as unknown as T
  }
}
