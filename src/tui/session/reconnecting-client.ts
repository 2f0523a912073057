/** Keeps a connection to the service across its restarts and reports connection problems. */
import { setTimeout as sleep } from 'node:timers/promises'
import { UnreachableError } from '../../client/errors.ts'
import { fetchHealth } from '../../client/find-daemon.ts'
import type { Connection } from '../../client/request.ts'

interface ReconnectingClientDependencies {
  /** Finds the service and starts it if allowed. */
  connect: (start: boolean) => Promise<Connection>
  /** Receives undefined when the problem is solved. */
  reportProblem: (trouble: string | undefined) => void
}

const INITIAL_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 5_000
const CHECK_INTERVAL_MS = 5_000

export class ReconnectingClient {
  readonly #dependencies: ReconnectingClientDependencies
  #connection: Connection | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(dependencies: ReconnectingClientDependencies) {
    this.#dependencies = dependencies
  }

  /** Retries until the service is reachable. Throws other errors. */
  async waitForConnection(signal: AbortSignal): Promise<Connection> {
    for (let delay = INITIAL_BACKOFF_MS; ; delay = Math.min(MAX_BACKOFF_MS, delay * 2)) {
      signal.throwIfAborted()
      try {
        return await this.getConnection()
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error
        this.#dependencies.reportProblem(error.message)
        await sleep(delay, undefined, { signal })
      }
    }
  }

  /** Connects without retries. */
  async getConnection(): Promise<Connection> {
    this.#connection ??= await this.#connect(true)
    return this.#connection
  }

  async #connect(start: boolean): Promise<Connection> {
    const { connect, reportProblem } = this.#dependencies
    return { ...(await connect(start)), announceWait: reportProblem }
  }

  /** Forgets the connection: the service may have moved to another port. */
  markLost(problem: string): void {
    this.#connection = undefined
    this.#dependencies.reportProblem(problem)
  }

  markReachable(): void {
    this.#dependencies.reportProblem(undefined)
  }

  /** Checks periodically whether the service is reachable, without starting it. */
  watch(): void {
    this.#timer ??= setInterval(() => void this.#check(), CHECK_INTERVAL_MS)
    this.#timer.unref()
  }

  async #check(): Promise<void> {
    try {
      this.#connection ??= await this.#connect(false)
      if (await fetchHealth(this.#connection.url)) this.markReachable()
      else this.markLost('The daemon does not respond.')
    } catch (error) {
      this.markLost((error as Error).message) // the next message reports it in full
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
