/** The database on a libSQL server, which several daemons share. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database, Transaction, Value } from '../database.ts'
import { createWriteQueue, type PendingWrite } from '../write-queue.ts'
import { retryWrite } from './retry-write.ts'
import { createStatement, type ServerAddress, ServerConnection } from './server-connection.ts'
import { ConnectionLostError, createUnknownOutcomeError } from './server-errors.ts'
import { ServerTransaction, toRows } from './server-transaction.ts'

/** The server ends transactions that hold its lock for 5 s while others wait. */
const MAX_TRANSACTION_MS = 1_000
/** How long a lost connection is opened again to find out whether a commit was stored. */
const OUTCOME_TIMEOUT_MS = 15_000
const OUTCOME_RETRY_MS = 250
const COMMIT_RETENTION_MS = 24 * 60 * 60 * 1000

/** Throws if the server cannot be reached or rejects the token. */
export async function openServerDatabase(address: ServerAddress): Promise<Database> {
  const connection = new ServerConnection(address)
  const database = new ServerDatabase(connection)
  try {
    await database.prepare()
  } catch (error) {
    await connection.close()
    throw error
  }
  return database
}

class ServerDatabase implements Database {
  readonly location: string
  readonly isRemote = true
  readonly #connection: ServerConnection
  readonly #queue = createWriteQueue<Transaction>((writes) => this.#commitAll(writes))
  readonly daemonId = randomUUID()
  #commits = 0

  constructor(connection: ServerConnection) {
    this.#connection = connection
    this.location = connection.location
  }

  /** Creates the table that records the last commit of each daemon. It is not part of the schema of a local file. */
  async prepare(): Promise<void> {
    const found = await this.all("SELECT 1 FROM sqlite_master WHERE name = 'commits'")
    await retryWrite(this, async (transaction) => {
      if (found.length === 0)
        await transaction.run(
          'CREATE TABLE IF NOT EXISTS commits (daemon TEXT PRIMARY KEY, number INTEGER NOT NULL, at TEXT NOT NULL) WITHOUT ROWID',
        )
      await transaction.run('DELETE FROM commits WHERE at < ?', [new Date(Date.now() - COMMIT_RETENTION_MS).toISOString()])
    })
  }

  get = async <T>(sql: string, values: readonly Value[] = []) => toRows(await this.#connection.read(sql, values))[0] as T | undefined
  all = async <T>(sql: string, values: readonly Value[] = []) => toRows(await this.#connection.read(sql, values)) as T[]
  write: Database['write'] = (work) => this.#queue.add(true, work)
  writeWithoutFlush: Database['write'] = (work) => this.#queue.add(false, work)
  validateIntegrity = () => undefined
  isDamaged = () => false

  async truncateLog(): Promise<void> {}

  async close(): Promise<void> {
    await this.#queue.waitUntilIdle()
    await this.#connection.close()
  }

  async #commitAll(writes: readonly PendingWrite<Transaction>[]): Promise<void> {
    for (let left = writes; left.length > 0; ) left = await this.#commitSome(left)
  }

  /** Returns the writes that were not started, because the transaction would have become too long. */
  async #commitSome(writes: readonly PendingWrite<Transaction>[]): Promise<readonly PendingWrite<Transaction>[]> {
    const startedAt = performance.now()
    const [done, failed]: [(() => void)[], (() => void)[]] = [[], []]
    let next = 0
    try {
      const transaction = await ServerTransaction.open(this.#connection, this.daemonId)
      try {
        while (next < writes.length && (next === 0 || performance.now() - startedAt < MAX_TRANSACTION_MS)) {
          const { work, resolve, reject } = writes[next++] as PendingWrite<Transaction>
          try {
            const result = await transaction.run(work, writes.length === 1)
            done.push(() => resolve(result))
          } catch (error) {
            if (transaction.isLost) throw error
            failed.push(() => reject(error))
          }
        }
        if (transaction.hasStatements && done.length > 0) await this.#commit(transaction)
        else transaction.discard()
      } catch (error) {
        transaction.discard()
        throw error
      }
    } catch (error) {
      // None of them was stored. Work is not repeated, because it may have changed more than the database.
      const started = next || writes.length // without a connection, none was started
      for (const { reject } of writes.slice(0, started)) reject(error)
      return writes.slice(started)
    }
    for (const settle of [...done, ...failed]) settle()
    return writes.slice(next)
  }

  /** Records its number in the same transaction, so that the outcome is known even if the response is lost. */
  async #commit(transaction: ServerTransaction): Promise<void> {
    const number = ++this.#commits
    const record = createStatement(
      'INSERT INTO commits (daemon, number, at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET number = excluded.number, at = excluded.at',
      [this.daemonId, number, new Date().toISOString()],
    )
    try {
      await transaction.commit(record)
    } catch (error) {
      if (!(error instanceof ConnectionLostError) || !(await this.#isStored(number))) throw error
    }
  }

  /** Takes the lock first: the lost transaction is then stored or rolled back, but no longer open. */
  async #isStored(number: number): Promise<boolean> {
    const deadline = performance.now() + OUTCOME_TIMEOUT_MS
    for (;;) {
      let transaction: ServerTransaction | undefined
      try {
        transaction = await ServerTransaction.open(this.#connection, this.daemonId)
        const sql = 'SELECT number FROM commits WHERE daemon = ?'
        const row = await transaction.run((reader) => reader.get<{ number: number }>(sql, [this.daemonId]), true)
        return row?.number === number
      } catch (error) {
        if (performance.now() > deadline) throw createUnknownOutcomeError(this.location, error)
        await pause(OUTCOME_RETRY_MS)
      } finally {
        transaction?.discard()
      }
    }
  }
}
