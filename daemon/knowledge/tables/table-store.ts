/** The tables of a knowledge source: a SQLite file that is built from the documents, and can be built again at any time. */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'libsql'
import { createIdentifier, inferSchema } from '../../tables/infer-schema.ts'
import { createCellValue } from '../../tables/linking/link-question.ts'
import { createIndexes } from '../../tables/sql/create-indexes.ts'
import { quoteName } from '../../tables/sql/write-sql.ts'
import type { CellValue, Column, SqlDatabase, SqlValue, TypedTable } from '../../tables/typed-table.ts'
import type { ExtractedTable } from './extracted-table.ts'
import { describeMissingCells, forEachRow, limitTables, MAX_COLUMNS, MAX_TABLES } from './table-limits.ts'

/** Raised when tables are built differently: older files are built again. */
export const FORMAT_VERSION = 5
/** Longer values are not searched for in questions. */
const MAX_VALUE_LENGTH = 120
/** Distinct values of a column that questions can name. */
const MAX_VALUES = 200_000
/** The values of a table with fewer cells are all compared with a question; of others, those that share a word with it. */
const MAX_COMPARED_CELLS = 20_000
const MAX_FOUND_VALUES = 60
/** Smaller tables are read as fast without indexes. */
const MIN_INDEXED_ROWS = 50_000

export interface TableDocument {
  id: string
  name: string
  contentHash: string
}

/** A document whose tables were built. */
interface KnownDocument {
  id: string
  contentHash: string
  /** Whether there was no room for some of its tables: 0 or 1. */
  lacksRoom: number
}

export interface StoredTable extends TypedTable {
  documentId: string
  document: string
  contentHash: string
  /** What was left out, if the table exceeds the bounds. */
  notice: string | null
}

/** What was left out of the tables of a document. */
export interface LeftOut {
  documentId: string
  document: string
  notice: string
}

export class TableStore {
  readonly #database: Database.Database
  readonly path: string

  /** Opens a file for changes. A file of another version, or one that is damaged, is replaced. */
  static openForWriting(path: string): TableStore {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    try {
      return new TableStore(openDatabase(path), path)
    } catch {
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
      return new TableStore(openDatabase(path), path)
    }
  }

  /** Returns undefined if there is no file yet. */
  static openForReading(path: string): TableStore | undefined {
    return existsSync(path) ? new TableStore(new Database(path, { readonly: true }), path) : undefined
  }

  private constructor(database: Database.Database, path: string) {
    this.#database = database
    this.path = path
  }

  get database(): SqlDatabase {
    return this.#database
  }

  close(): void {
    this.#database.close()
  }

  listDocuments(): KnownDocument[] {
    const sql = 'SELECT id, content_hash AS contentHash, lacks_room AS lacksRoom FROM cadre_documents'
    return this.#database.prepare(sql).all() as KnownDocument[]
  }

  listTables(): StoredTable[] {
    const sql = `SELECT t.*, d.content_hash FROM cadre_tables t JOIN cadre_documents d ON d.id = t.document_id ORDER BY document, position`
    const rows = this.#database.prepare(sql).all() as Record<string, unknown>[]
    return rows.map((row) => ({
      name: String(row.name),
      title: String(row.title),
      rowCount: Number(row.row_count),
      columns: JSON.parse(String(row.columns)) as Column[],
      documentId: String(row.document_id),
      document: String(row.document),
      contentHash: String(row.content_hash),
      notice: row.notice === null ? null : String(row.notice),
    }))
  }

  /** Lists the documents whose tables are not complete. */
  listLeftOut(): LeftOut[] {
    const sql = `SELECT id AS documentId, name AS document, notice FROM cadre_documents WHERE notice IS NOT NULL
      UNION SELECT document_id, document, notice FROM cadre_tables WHERE notice IS NOT NULL ORDER BY document, notice`
    const found = new Map<string, LeftOut>()
    for (const row of this.#database.prepare(sql).all() as LeftOut[]) {
      const known = found.get(row.documentId)
      found.set(row.documentId, known ? { ...known, notice: `${known.notice} ${row.notice}` } : row)
    }
    return [...found.values()]
  }

  remove(documentIds: readonly string[]): void {
    this.#transact(() => {
      for (const id of documentIds) this.#removeDocument(id)
    })
  }

  /**
   * Replaces the tables of a document in one transaction.
   * @param problem why its tables cannot be built
   */
  replace({ id, name, contentHash }: TableDocument, tables: readonly ExtractedTable[], problem: string | null = null): void {
    this.#transact(() => {
      this.#removeDocument(id)
      const { built, lacksRoom, notice } = limitTables(tables.length, this.countRoom())
      const insert = this.#database.prepare('INSERT INTO cadre_documents VALUES (?, ?, ?, ?, ?)')
      insert.run([id, contentHash, name, problem ?? notice, lacksRoom ? 1 : 0])
      for (const [position, table] of tables.slice(0, built).entries()) this.#addTable(id, name, position, table, tables.length > 1)
    })
  }

  /** Returns how many tables can be added. */
  countRoom(): number {
    const [count] = this.#listColumn('SELECT count(*) FROM cadre_tables')
    return Math.max(0, MAX_TABLES - Number(count))
  }

  #transact(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #removeDocument(id: string): void {
    for (const name of this.#listColumn('SELECT name FROM cadre_tables WHERE document_id = ?', [id]) as string[]) {
      this.#database.exec(`DROP TABLE IF EXISTS ${quoteName(name)}`)
      this.#database.prepare('DELETE FROM cadre_values WHERE table_name = ?').run([name])
    }
    this.#database.prepare('DELETE FROM cadre_tables WHERE document_id = ?').run([id])
    this.#database.prepare('DELETE FROM cadre_documents WHERE id = ?').run([id])
  }

  #addTable(documentId: string, document: string, position: number, table: ExtractedTable, isOneOfSeveral: boolean): void {
    const header = table.header.slice(0, MAX_COLUMNS)
    const { columns, sqlColumns, rowCount, convertRow } = inferSchema(header, (add) => forEachRow(table, add))
    const name = this.#createName(document, table.caption, isOneOfSeveral)
    const title = isOneOfSeveral && table.caption !== '' ? `${table.caption} in ${document}` : document
    const definitions = sqlColumns.map((column) => `${quoteName(column.name)} ${column.type}`)
    this.#database.exec(`CREATE TABLE ${quoteName(name)} (${definitions.join(', ')})`)
    const insert = this.#database.prepare(`INSERT INTO ${quoteName(name)} VALUES (${sqlColumns.map(() => '?').join(', ')})`)
    forEachRow(table, (row) => {
      const values = convertRow(row)
      if (values) insert.run(values)
    })
    this.#database
      .prepare('INSERT INTO cadre_tables VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run([name, documentId, document, position, title, rowCount, JSON.stringify(columns), describeMissingCells(table)])
    for (const [index, { readings }] of columns.entries()) this.#indexValues(name, index, readings.text)
    if (rowCount >= MIN_INDEXED_ROWS) createIndexes(this.#database, name, columns)
  }

  #indexValues(table: string, column: number, sqlColumn: string): void {
    const text = quoteName(sqlColumn)
    this.#database
      .prepare(
        `INSERT INTO cadre_values (value, table_name, column_index)
         SELECT DISTINCT ${text}, ?, ? FROM ${quoteName(table)}
         WHERE typeof(${text}) = 'text' AND length(${text}) <= ? AND ${text} GLOB '*[^0-9 .,:%+-]*' LIMIT ?`,
      )
      .run([table, column, MAX_VALUE_LENGTH, MAX_VALUES])
  }

  #createName(document: string, caption: string, isOneOfSeveral: boolean): string {
    const used = new Set(this.#listColumn('SELECT name FROM sqlite_master') as string[])
    const base = document.replace(/^.*\//, '').replace(/\.[^.]*$/, '')
    return createIdentifier(isOneOfSeveral && caption !== '' ? `${base} ${caption}` : base, used)
  }

  /** Returns the distinct values of a small table; undefined for a large one. */
  listValues({ name, columns, rowCount }: TypedTable): CellValue[] | undefined {
    if (rowCount * columns.length > MAX_COMPARED_CELLS) return undefined
    return columns.flatMap((_, index) => this.#listValues(name, columns, index))
  }

  /** Returns the values of a large table that a question may name. `words` are its words without frequent ones. */
  findValues({ name, columns }: TypedTable, words: readonly string[], numbers: readonly number[]): CellValue[] {
    const select = this.#database
      .prepare('SELECT value, column_index FROM cadre_values WHERE cadre_values MATCH ? AND table_name = ? LIMIT ?')
      .raw()
    const phrases = [...words.map((word) => `"${word}"`), ...words.slice(1).map((word, index) => `"${words[index]}" AND "${word}"`)]
    const found = new Map<string, CellValue>()
    for (const phrase of phrases)
      for (const [text, column] of select.all([phrase, name, MAX_FOUND_VALUES]) as [string, number][])
        found.set(`${column} ${text}`, createCellValue(column, text))
    return [...found.values(), ...this.#findNumbers(name, columns, numbers)]
  }

  #listValues(table: string, columns: readonly Column[], index: number): CellValue[] {
    const text = quoteName((columns[index] as Column).readings.text)
    const values = this.#listColumn(`SELECT DISTINCT ${text} FROM ${quoteName(table)} WHERE ${text} IS NOT NULL`)
    return values.map((value) => createCellValue(index, String(value)))
  }

  #findNumbers(table: string, columns: readonly Column[], numbers: readonly number[]): CellValue[] {
    if (numbers.length === 0) return []
    return columns.flatMap(({ readings }, index) => {
      if (!readings.number) return []
      const condition = `${quoteName(readings.number)} IN (${numbers.map(() => '?').join(', ')})`
      const sql = `SELECT DISTINCT ${quoteName(readings.text)} FROM ${quoteName(table)} WHERE ${condition} LIMIT ${MAX_FOUND_VALUES}`
      return this.#listColumn(sql, numbers).map((value) => createCellValue(index, String(value)))
    })
  }

  /** Returns the first column of the result. */
  #listColumn(sql: string, values: readonly SqlValue[] = []): unknown[] {
    const rows = this.#database
      .prepare(sql)
      .raw()
      .all([...values]) as unknown[][]
    return rows.map(([value]) => value)
  }
}

function openDatabase(path: string): Database.Database {
  const database = new Database(path)
  database.exec('PRAGMA journal_mode = WAL')
  const [[version]] = database.prepare('PRAGMA user_version').raw().all() as [[number]]
  if (version !== 0 && version !== FORMAT_VERSION) {
    database.close()
    throw new Error('The file has another version.')
  }
  database.exec(`CREATE TABLE IF NOT EXISTS cadre_documents (id TEXT PRIMARY KEY, content_hash TEXT NOT NULL,
      name TEXT NOT NULL, notice TEXT, lacks_room INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS cadre_tables (name TEXT PRIMARY KEY, document_id TEXT NOT NULL, document TEXT NOT NULL,
      position INTEGER NOT NULL, title TEXT NOT NULL, row_count INTEGER NOT NULL, columns TEXT NOT NULL, notice TEXT);
    CREATE VIRTUAL TABLE IF NOT EXISTS cadre_values 
      USING fts5(value, table_name UNINDEXED, column_index UNINDEXED, tokenize = 'porter unicode61');
    PRAGMA user_version = ${FORMAT_VERSION}`)
  return database
}
