/** Requests to other daemons travel through a table, because daemons behind a load balancer have no addresses of their own. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { CadreError, type ErrorCode } from '../../src/contract/errors.ts'
import type { Database } from '../store/database.ts'
import { retryWrite } from '../store/remote/retry-write.ts'
import type { ClusterLog, DaemonRequest, DaemonRequests, RequestHandler } from './cluster.ts'

const POLL_INTERVAL_MS = 200
const RESPONSE_INTERVAL_MS = 100
/** Counted instead of timed: after a pause of the machine, for example of a computer that slept, the other daemon gets its time too. */
const MAX_RESPONSE_CHECKS = 150
/** A daemon that was suspended renews its lease within this many. */
const MAX_ABSENT_CHECKS = 20

interface Answer {
  result?: unknown
  error?: { code: ErrorCode; message: string; hint?: string | undefined }
}

export class ServerRequests implements DaemonRequests {
  readonly #database: Database
  readonly #daemonId: string
  readonly #logger: ClusterLog
  readonly #handlers = new Map<string, RequestHandler>()
  /** Requests that are being answered. */
  readonly #pending = new Map<string, Promise<void>>()
  readonly #closing = new AbortController()
  #polling: Promise<void> | undefined

  constructor(database: Database, daemonId: string, logger: ClusterLog) {
    this.#database = database
    this.#daemonId = daemonId
    this.#logger = logger
  }

  start(): void {
    this.#polling = this.#poll()
  }

  handle(kind: string, handler: RequestHandler): void {
    this.#handlers.set(kind, handler)
  }

  async send<T>(receiver: string, kind: string, target: string, data: unknown = null): Promise<T> {
    const id = randomUUID()
    const insert = 'INSERT INTO daemon_requests (id, receiver, sender, kind, target, data) VALUES (?, ?, ?, ?, ?, ?)'
    await this.#database.write((transaction) => transaction.run(insert, [id, receiver, this.#daemonId, kind, target, JSON.stringify(data)]))
    try {
      return (await this.#waitForAnswer(id)) as T
    } finally {
      const remove = 'DELETE FROM daemon_requests WHERE id = ?'
      // Also removed with this daemon or the other one.
      this.#database.write((transaction) => transaction.run(remove, [id])).catch(() => undefined)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#polling
    await Promise.all(this.#pending.values())
  }

  async #waitForAnswer(id: string): Promise<unknown> {
    const sql = 'SELECT response, receiver IN (SELECT id FROM live_daemons) AS is_live FROM daemon_requests WHERE id = ?'
    for (let checks = 0, absent = 0; checks < MAX_RESPONSE_CHECKS && absent < MAX_ABSENT_CHECKS; checks++) {
      await pause(RESPONSE_INTERVAL_MS)
      const row = await this.#database.get<{ response: string | null; is_live: number }>(sql, [id])
      if (row?.response) {
        const { result, error } = JSON.parse(row.response) as Answer
        if (error) throw new CadreError(error.code, error.message, { hint: error.hint })
        return result
      }
      if (!row) break
      absent = row.is_live ? 0 : absent + 1
    }
    throw new CadreError('UNAVAILABLE', 'The daemon that does this work does not respond.', {
      hint: 'Try again in a moment. The work of a daemon that ended is taken over within 30 s.',
      retryAfterSeconds: 1,
    })
  }

  async #poll(): Promise<void> {
    const sql = 'SELECT id, sender, kind, target, data FROM daemon_requests WHERE receiver = ? AND response IS NULL'
    while (!this.#closing.signal.aborted) {
      try {
        const rows = await this.#database.all<DaemonRequest & { id: string; kind: string; data: string }>(sql, [this.#daemonId])
        for (const { id, kind, ...request } of rows)
          if (!this.#pending.has(id)) this.#pending.set(id, this.#answer(id, kind, { ...request, data: JSON.parse(request.data) }))
      } catch (error) {
        if (!this.#closing.signal.aborted) this.#logger.warn({ err: error }, 'requests of other daemons could not be read')
        await pause(1_000, undefined, { signal: this.#closing.signal }).catch(() => undefined)
      }
      await pause(POLL_INTERVAL_MS, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined)
    }
  }

  async #answer(id: string, kind: string, request: DaemonRequest): Promise<void> {
    const answer = await this.#run(kind, request)
    try {
      const sql = 'UPDATE daemon_requests SET response = ? WHERE id = ?'
      await retryWrite(this.#database, (transaction) => transaction.run(sql, [JSON.stringify(answer), id]))
    } catch (error) {
      this.#logger.warn({ err: error, kind }, 'a request of another daemon could not be answered')
    } finally {
      this.#pending.delete(id)
    }
  }

  async #run(kind: string, request: DaemonRequest): Promise<Answer> {
    try {
      const handler = this.#handlers.get(kind)
      // It has just started, or has another version.
      if (!handler)
        throw new CadreError('UNAVAILABLE', 'The daemon that does this work cannot answer yet.', { hint: 'Try again in a moment.' })
      return { result: (await handler(request)) ?? null }
    } catch (error) {
      if (!(error instanceof CadreError)) this.#logger.warn({ err: error, kind }, 'a request of another daemon failed unexpectedly')
      const { code, message, hint } =
        error instanceof CadreError
          ? error
          : new CadreError('INTERNAL', 'Another daemon failed to answer. This is a bug.', { hint: 'See its log.' })
      return { error: { code, message, hint } }
    }
  }
}
