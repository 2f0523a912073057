/** The SQLite database (libSQL): one writer, concurrent readers, group commit. */
import Libsql from 'libsql'
import type { CadreError } from '../../src/contract/errors.ts'
import { createDamageError, isDamageError, translateError } from './database-errors.ts'
import { openWriteAheadLog, type WriteAheadLog } from './write-ahead-log.ts'
import { createWriteQueue, type PendingWrite } from './write-queue.ts'

export type Value = string | number | null
export type Row = Record<string, Value>

export interface DatabaseReader {
  get<T = Row>(sql: string, values?: readonly Value[]): Promise<T | undefined>
  all<T = Row>(sql: string, values?: readonly Value[]): Promise<T[]>
}

export interface Transaction extends DatabaseReader {
  /** Identifies this daemon on a server; null in a file. */
  readonly daemonId: string | null
  run(sql: string, values?: readonly Value[]): Promise<number>
  /** Sends a statement with the next one or with the commit. Only a server has it; use `runLater`. */
  queue?(sql: string, values?: readonly Value[]): Promise<void>
}

/** Runs a statement whose result is not needed. On a server, it costs no round trip; an error appears later, but before the commit. */
export async function runLater(transaction: Transaction, sql: string, values?: readonly Value[]): Promise<void> {
  if (transaction.queue) await transaction.queue(sql, values)
  else await transaction.run(sql, values)
}

/** Returns the values of the only column of a query. */
export async function listColumn(reader: DatabaseReader, sql: string, values?: readonly Value[]): Promise<string[]> {
  return (await reader.all<Record<string, string>>(sql, values)).map((row) => Object.values(row)[0] as string)
}

export interface Database extends DatabaseReader {
  /** The path of the file, or the URL of the server without its token. */
  readonly location: string
  /** Whether the records are on a server, which several daemons can share. */
  readonly isRemote: boolean
  /** Identifies this daemon on a server; null in a file. */
  readonly daemonId: string | null
  /** Runs the work in a transaction, after all earlier writes. Resolves when the commit is on disk. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** Like `write`, but does not wait for the disk: the commit survives a crash of the process, but not yet a power cut. */
  writeWithoutFlush<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** Reads the whole file and returns the first problem. */
  validateIntegrity(): CadreError | undefined
  /** Removes the write-ahead log, which contains what was deleted. Does nothing while another process reads the file. */
  truncateLog(): Promise<void>
  /** Whether damage was found since the database was opened. */
  isDamaged(): boolean
  close(): Promise<void>
}

/** Filters produce many variants of a query. The oldest statements are evicted. */
const MAX_STATEMENTS = 400

type Connection = InstanceType<typeof Libsql>
interface Statement {
  reader: boolean
  raw(): void
  columns(): { name: string }[]
  get(...values: readonly Value[]): Value[] | undefined
  all(...values: readonly Value[]): Value[][]
  run(...values: readonly Value[]): { changes: number }
}

/** Fetches rows as arrays and names the values here: setting properties across the native boundary costs twice as much. */
class PreparedStatement {
  readonly statement: Statement
  readonly #names: readonly string[]

  constructor(statement: Statement) {
    this.statement = statement
    if (statement.reader) statement.raw()
    this.#names = statement.reader ? statement.columns().map(({ name }) => name) : []
  }

  toRow(values: Value[]): Row {
    const row: Row = {}
    for (let index = 0; index < this.#names.length; index++) row[this.#names[index] as string] = values[index] as Value
    return row
  }
}

class Session {
  readonly connection: Connection
  /** Separate per method: in libsql 0.5.29, `get` returns nothing after an `all` of the same statement returned nothing. */
  readonly #statements = {
    get: new Map<string, PreparedStatement>(),
    all: new Map<string, PreparedStatement>(),
    run: new Map<string, PreparedStatement>(),
  }

  isDamaged = false
  readonly #path: string

  constructor(path: string) {
    this.#path = path
    this.connection = this.#translateErrors(() => new Libsql(path))
    this.connection.exec('PRAGMA busy_timeout = 5000')
  }

  prepare(use: 'get' | 'all' | 'run', sql: string): PreparedStatement {
    const statements = this.#statements[use]
    const kept = statements.get(sql)
    if (kept) return kept
    const prepared = new PreparedStatement(this.connection.prepare(sql) as unknown as Statement)
    statements.set(sql, prepared)
    if (statements.size > MAX_STATEMENTS) statements.delete(statements.keys().next().value as string)
    return prepared
  }

  get<T>(sql: string, values: readonly Value[]): T | undefined {
    return this.#translateErrors(() => {
      const prepared = this.prepare('get', sql)
      const row = prepared.statement.get(...values)
      return row && prepared.toRow(row)
    }) as T | undefined
  }

  all<T>(sql: string, values: readonly Value[]): T[] {
    return this.#translateErrors(() => {
      const prepared = this.prepare('all', sql)
      return prepared.statement.all(...values).map((row) => prepared.toRow(row))
    }) as T[]
  }

  run(sql: string, values: readonly Value[]): number {
    return this.#translateErrors(() => this.prepare('run', sql).statement.run(...values)).changes
  }

  exec(sql: string): void {
    this.#translateErrors(() => this.connection.exec(sql))
  }

  validateIntegrity(): CadreError | undefined {
    try {
      const found = this.get<{ quick_check: string }>('PRAGMA quick_check(1)', [])?.quick_check ?? 'ok'
      if (found === 'ok') return undefined
      this.isDamaged = true
      return createDamageError(this.#path, found.split('\n').at(-1) as string)
    } catch (error) {
      if (isDamageError((error as Error).cause)) return error as CadreError
      throw error
    }
  }

  #translateErrors<T>(ask: () => T): T {
    try {
      return ask()
    } catch (error) {
      this.isDamaged ||= isDamageError(error)
      throw translateError(error, this.#path)
    }
  }
}

/** The oldest rows are evicted first. */
const MAX_CACHED_ROWS = 500

/**
 * Caches single rows until the next commit. One daemon owns the home and has one writing connection, so the rows cannot
 * change in between. Reading from SQLite costs three times as much as the rest of a GET request.
 */
class RowCache {
  /** By statement, which the engine has hashed already, then by values. */
  readonly #rows = new Map<string, Map<string, Row | undefined>>()
  #size = 0

  get(sql: string, values: readonly Value[], read: () => Row | undefined): Row | undefined {
    const rows = this.#rows.get(sql) ?? new Map<string, Row | undefined>()
    const [value] = values
    const key = values.length === 1 && typeof value === 'string' ? `'${value}` : JSON.stringify(values)
    const cached = rows.get(key)
    if (cached !== undefined) return { ...cached } // copied: callers may mutate it
    if (rows.has(key)) return undefined
    const row = read()
    this.#rows.set(sql, rows.set(key, row))
    if (++this.#size > MAX_CACHED_ROWS) this.#removeOldest()
    return row && { ...row }
  }

  clear(): void {
    this.#rows.clear()
    this.#size = 0
  }

  #removeOldest(): void {
    const [sql, rows] = this.#rows.entries().next().value as [string, Map<string, Row | undefined>]
    rows.delete(rows.keys().next().value as string)
    if (rows.size === 0) this.#rows.delete(sql)
    this.#size--
  }
}

export function openDatabase(path: string, log: WriteAheadLog = openWriteAheadLog(path)): Database {
  const writer = new Session(path)
  writer.exec('PRAGMA journal_mode = WAL')
  // Keeps the file consistent after a power cut. Durability comes from flushing the write-ahead log after each commit.
  writer.exec('PRAGMA synchronous = NORMAL')
  const reader = new Session(path)
  reader.exec('PRAGMA query_only = ON')
  const transaction: Transaction = {
    daemonId: null,
    get: async <T>(sql: string, values: readonly Value[] = []) => writer.get<T>(sql, values),
    all: async <T>(sql: string, values: readonly Value[] = []) => writer.all<T>(sql, values),
    run: async (sql, values = []) => writer.run(sql, values),
  }
  const isDamaged = () => writer.isDamaged || reader.isDamaged
  const rowCache = new RowCache()
  const queue = createWriteQueue<Transaction>(commit)

  /** Settles each write after the commit, or after the flush if it must be on disk. A failed write does not affect the others. */
  async function commit(writes: readonly PendingWrite<Transaction>[]): Promise<void> {
    const outcomes: { mustFlush: boolean; settle: () => void }[] = []
    const settle = (mustFlush: boolean) => {
      for (const outcome of outcomes) if (outcome.mustFlush === mustFlush) outcome.settle()
    }
    try {
      writer.exec('BEGIN IMMEDIATE')
      for (const write of writes) outcomes.push({ mustFlush: write.mustFlush, settle: await runInSavepoint(write) })
      writer.exec('COMMIT')
      rowCache.clear()
      settle(false)
      if (writes.some(({ mustFlush }) => mustFlush)) await log.flush()
    } catch (error) {
      if (writer.connection.inTransaction) writer.exec('ROLLBACK')
      for (const { reject } of writes) reject(error)
      return
    }
    settle(true)
  }

  async function runInSavepoint({ work, resolve, reject }: PendingWrite<Transaction>): Promise<() => void> {
    writer.exec('SAVEPOINT write')
    try {
      const result = await work(transaction)
      writer.exec('RELEASE write')
      return () => resolve(result)
    } catch (error) {
      // A full disk may have rolled back the whole transaction.
      if (!writer.connection.inTransaction) throw error
      writer.exec('ROLLBACK TO write')
      writer.exec('RELEASE write')
      return () => reject(error)
    }
  }

  return {
    get: async <T>(sql: string, values: readonly Value[] = []) => rowCache.get(sql, values, () => reader.get(sql, values)) as T | undefined,
    all: async <T>(sql: string, values: readonly Value[] = []) => reader.all<T>(sql, values),
    location: path,
    isRemote: false,
    daemonId: null,
    write: (work) => queue.add(true, work),
    writeWithoutFlush: (work) => queue.add(false, work),
    validateIntegrity: () => reader.validateIntegrity(),
    isDamaged,
    async truncateLog() {
      while (writer.connection.inTransaction) await queue.waitUntilIdle()
      // Waiting for another process would stop this one.
      writer.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = 5000')
    },
    async close() {
      await queue.waitUntilIdle()
      if (!isDamaged()) writer.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      await log.close()
      reader.connection.close()
      writer.connection.close()
    },
  }
}

/** Writes a consistent copy with all commits so far. Other connections read and write meanwhile. */
export function copyDatabase(path: string, target: string): void {
  const session = new Session(path)
  try {
    session.exec(`VACUUM INTO '${target.replaceAll("'", "''")}'`)
  } finally {
    session.connection.close()
  }
}

/** Checks a database that may be in use by another process. The connection is not closed, because that would write to the file. */
export function validateIntegrity(path: string): CadreError | undefined {
  const session = new Session(path)
  session.exec('PRAGMA query_only = ON')
  return session.validateIntegrity()
}
