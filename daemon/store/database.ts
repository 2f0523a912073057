/** The records' database: libSQL behind an asynchronous seam, one writer at a time, readers beside it. */
import Libsql from 'libsql'
import { CadreError } from '../../src/contract/errors.ts'
import { openWriteAheadLog, type WriteAheadLog } from './write-ahead-log.ts'

export type Value = string | number | null
export type Row = Record<string, Value>

export interface Reader {
  get<T = Row>(sql: string, values?: readonly Value[]): Promise<T | undefined>
  all<T = Row>(sql: string, values?: readonly Value[]): Promise<T[]>
}

export interface Transaction extends Reader {
  run(sql: string, values?: readonly Value[]): Promise<number>
}

export interface Database extends Reader {
  /** Runs the work as one change, all or nothing, after every write asked for before it. What it returns is on disk. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** The same for what nobody is told of: it outlives the process when this resolves, and a power cut once anything is written after it. */
  writeWithoutFlush<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Filters make many shapes of one query; the oldest are prepared again when they are needed. */
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

/** Rows are asked for as lists and named here: setting every property of a row across the native border costs twice as much. */
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
  /** Kept apart by use: in libsql 0.5.29 a `get` finds nothing when an `all` of the same statement found nothing before it. */
  readonly #statements = {
    get: new Map<string, PreparedStatement>(),
    all: new Map<string, PreparedStatement>(),
    run: new Map<string, PreparedStatement>(),
  }

  constructor(path: string) {
    this.connection = new Libsql(path)
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

  #translateErrors<T>(ask: () => T): T {
    try {
      return ask()
    } catch (error) {
      throw translateError(error)
    }
  }
}

/** How many rows are remembered; the oldest go first. */
const MAX_CACHED_ROWS = 500

/**
 * Single rows that were read since the last commit. One daemon owns the home and one connection of it writes, so until
 * then they are what they were, and asking SQLite again would only cost: three times as much as all else a get does.
 */
class RowCache {
  readonly #rows = new Map<string, Row | undefined>()

  get(sql: string, values: readonly Value[], read: () => Row | undefined): Row | undefined {
    const key = `${sql} ${JSON.stringify(values)}`
    if (!this.#rows.has(key)) {
      this.#rows.set(key, read())
      if (this.#rows.size > MAX_CACHED_ROWS) this.#rows.delete(this.#rows.keys().next().value as string)
    }
    const row = this.#rows.get(key)
    return row && { ...row } // whoever asked may do with it what he likes
  }

  clear(): void {
    this.#rows.clear()
  }
}

/** Writes that share a commit; more would keep others from the loop for too long. */
const MAX_WRITES_PER_COMMIT = 50

interface PendingWrite {
  /** Whether somebody will be told, so that it has to be on disk before. */
  mustFlush: boolean
  work(transaction: Transaction): Promise<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

export function openDatabase(path: string, log: WriteAheadLog = openWriteAheadLog(path)): Database {
  const writer = new Session(path)
  writer.exec('PRAGMA journal_mode = WAL')
  // Keeps the file whole through a power cut; that every commit is on disk before anybody is told is the log's part.
  writer.exec('PRAGMA synchronous = NORMAL')
  const reader = new Session(path)
  reader.exec('PRAGMA query_only = ON')
  const transaction: Transaction = {
    get: async <T>(sql: string, values: readonly Value[] = []) => writer.get<T>(sql, values),
    all: async <T>(sql: string, values: readonly Value[] = []) => writer.all<T>(sql, values),
    run: async (sql, values = []) => writer.run(sql, values),
  }
  const recent = new RowCache()
  const waiting: PendingWrite[] = []
  let draining: Promise<void> | undefined

  /** Those that came while others were written go together: the disk is waited for once for all of them. */
  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      await perform(waiting.splice(0, MAX_WRITES_PER_COMMIT))
      // Whatever arrived meanwhile gets to ask for its write before the next lot is taken.
      await new Promise(setImmediate)
    }
    draining = undefined
  }

  /** Nobody is told that his write is done before it is on disk, and each that fails leaves the others alone. */
  async function perform(lot: readonly PendingWrite[]): Promise<void> {
    const outcomes: { told: boolean; say(): void }[] = []
    const say = (told: boolean) => {
      for (const outcome of outcomes) if (outcome.told === told) outcome.say()
    }
    try {
      writer.exec('BEGIN IMMEDIATE')
      for (const each of lot) outcomes.push({ told: each.mustFlush, say: await within(each) })
      writer.exec('COMMIT')
      recent.clear()
      say(false)
      if (lot.some(({ mustFlush: told }) => told)) await log.flush()
    } catch (error) {
      if (writer.connection.inTransaction) writer.exec('ROLLBACK')
      for (const { reject } of lot) reject(error)
      return
    }
    say(true)
  }

  const enqueue = <T>(told: boolean, work: (transaction: Transaction) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ mustFlush: told, work, resolve: resolve as (result: unknown) => void, reject })
      draining ??= drain()
    })

  async function within({ work, resolve, reject }: PendingWrite): Promise<() => void> {
    writer.exec('SAVEPOINT one')
    try {
      const result = await work(transaction)
      writer.exec('RELEASE one')
      return () => resolve(result)
    } catch (error) {
      // A full disk may have ended the whole transaction: then nothing of the lot is written.
      if (!writer.connection.inTransaction) throw error
      writer.exec('ROLLBACK TO one')
      writer.exec('RELEASE one')
      return () => reject(error)
    }
  }

  return {
    get: async <T>(sql: string, values: readonly Value[] = []) => recent.get(sql, values, () => reader.get(sql, values)) as T | undefined,
    all: async <T>(sql: string, values: readonly Value[] = []) => reader.all<T>(sql, values),
    write: (work) => enqueue(true, work),
    writeWithoutFlush: (work) => enqueue(false, work),
    async close() {
      await draining
      writer.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      await log.close()
      reader.connection.close()
      writer.connection.close()
    },
  }
}

function translateError(error: unknown): unknown {
  const code = String((error as { code?: unknown }).code ?? '')
  if (code.startsWith('SQLITE_FULL'))
    return new CadreError('STORAGE_FULL', 'The disk is full; nothing was changed.', {
      hint: 'Free some space where Cadre keeps its data, then try again.',
      cause: error,
    })
  return error
}
