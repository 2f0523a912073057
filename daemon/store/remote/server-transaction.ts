/** An interactive transaction on a libSQL server. Statements that need no response are sent with the next one that does. */
import { BatchCond, type BatchStep, type InStmt, type RowsResult, type Stream } from '@libsql/hrana-client'
import type { Row, Transaction, Value } from '../database.ts'
import { createStatement, type ServerConnection } from './server-connection.ts'
import { ConnectionLostError, TransactionLostError, translateServerError } from './server-errors.ts'

const BEGIN = 'BEGIN IMMEDIATE'
const SAVEPOINT = 'SAVEPOINT write'
/** Statements of a large write are sent in parts, because servers limit the size of a request. */
const MAX_QUEUED = 500

export class ServerTransaction {
  readonly #connection: ServerConnection
  readonly #daemonId: string
  #stream: Stream
  /** Sent before the next statement. */
  #before: InStmt[] = [BEGIN]
  #sent = 0
  /** Whether the server has ended the transaction, or the connection was lost. Nothing was stored. */
  isLost = false

  private constructor(connection: ServerConnection, stream: Stream, daemonId: string) {
    this.#connection = connection
    this.#daemonId = daemonId
    this.#stream = stream
  }

  static async open(connection: ServerConnection, daemonId: string): Promise<ServerTransaction> {
    return new ServerTransaction(connection, await connection.openWriter(), daemonId)
  }

  /** Runs one write. If it fails, only its own changes are undone. The only write of a transaction is undone with it. */
  async run<T>(work: (transaction: Transaction) => Promise<T>, isOnly: boolean): Promise<T> {
    const start = this.#before.length
    const sent = this.#sent
    if (!isOnly) this.#before.push(SAVEPOINT)
    const empty = this.#before.length
    let isRunning = true
    try {
      const result = await work(this.#createHandle(() => isRunning))
      isRunning = false
      if (isOnly) return result
      if (this.#sent === sent && this.#before.length === empty) this.#before.length = start
      else {
        // An error of a queued statement belongs to this write.
        if (this.#before.length > (this.#sent === sent ? empty : 0)) await this.#flush()
        this.#before.push('RELEASE write')
      }
      return result
    } catch (error) {
      isRunning = false
      if (this.#sent === sent) this.#before.length = start
      else this.#before = isOnly ? [] : ['ROLLBACK TO write', 'RELEASE write']
      throw error
    }
  }

  #createHandle(isRunning: () => boolean): Transaction {
    const prepare = (sql: string, values: readonly Value[] = []) => {
      // A part of a failed write may still be running.
      if (!isRunning()) throw new Error('This transaction has ended.')
      return createStatement(sql, values)
    }
    const execute = async (sql: string, values?: readonly Value[]) => this.#execute(prepare(sql, values))
    return {
      daemonId: this.#daemonId,
      get: async <R>(sql: string, values?: readonly Value[]) => toRows(await execute(sql, values))[0] as R | undefined,
      all: async <R>(sql: string, values?: readonly Value[]) => toRows(await execute(sql, values)) as R[],
      run: async (sql, values) => (await execute(sql, values)).affectedRowCount,
      queue: async (sql, values) => {
        this.#before.push(prepare(sql, values))
        if (this.#before.length >= MAX_QUEUED) await this.#flush()
      },
    }
  }

  /** Whether there is something to commit. */
  get hasStatements(): boolean {
    return this.#sent > 0 || this.#before.length > 1
  }

  async commit(last: InStmt): Promise<void> {
    await this.#send([...this.#before, last, 'COMMIT'])
    await this.#connection.keepWriter(this.#stream)
  }

  /** The server rolls back what is open when the stream is closed. */
  discard(): void {
    this.#stream.close()
  }

  async #flush(): Promise<void> {
    const last = this.#before.pop() as InStmt
    await this.#execute(last)
  }

  async #execute(statement: InStmt): Promise<RowsResult> {
    const statements = [...this.#before, statement]
    this.#before = []
    const isFirst = this.#sent === 0
    try {
      return await this.#send(statements)
    } catch (error) {
      // The server has rolled back what it received, and there was nothing before: the same can be sent again.
      if (!isFirst || this.#sent > 1 || !isLostError(error)) throw error
      this.#stream.close()
      this.#stream = await this.#connection.openWriter()
      this.isLost = false
      return this.#send(statements)
    }
  }

  /** Sends statements in one round trip. Each runs only if the one before it succeeded and the transaction is still open. */
  async #send(statements: readonly InStmt[]): Promise<RowsResult> {
    this.#sent++
    const batch = this.#stream.batch(false)
    let previous: BatchStep | undefined
    const results = statements.map((statement) => {
      const step = batch.step()
      if (previous) step.condition(BatchCond.ok(previous))
      if (statement !== BEGIN) step.condition(BatchCond.not(BatchCond.isAutocommit(batch)))
      previous = step
      return step.query(statement)
    })
    const settled = Promise.allSettled(results)
    try {
      await this.#connection.send(this.#stream, batch.execute())
      for (const result of await settled) {
        if (result.status === 'rejected') throw translateServerError(result.reason, this.#connection.location)
        if (result.value === undefined) throw new TransactionLostError(this.#connection.location)
      }
      return (await results.at(-1)) as RowsResult
    } catch (error) {
      this.isLost ||= isLostError(error)
      throw error
    }
  }
}

const isLostError = (error: unknown) => error instanceof ConnectionLostError || error instanceof TransactionLostError

export function toRows({ columnNames, rows }: RowsResult): Row[] {
  return rows.map((values) => {
    const row: Row = {}
    for (let index = 0; index < columnNames.length; index++) row[columnNames[index] as string] = values[index] as Value
    return row
  })
}
