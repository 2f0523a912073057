/** The connection to the service, kept through its restarts: whoever needs it waits until it is back, and the screen says why. */
import { setTimeout as pause } from 'node:timers/promises'
import { UnreachableError } from '../../client/errors.ts'
import type { Connection } from '../../client/request.ts'

export interface ReconnectingClientDependencies {
  /** Finds the service, or starts it where that is allowed. */
  connect: (start: boolean) => Promise<Connection>
  /** Whether it answers at that address. */
  isReachable: (url: string) => Promise<boolean>
  /** Tells what is wrong; undefined when nothing is any more. */
  reportProblem: (trouble: string | undefined) => void
}

const INITIAL_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 5_000
const CHECK_INTERVAL_MS = 5_000

export class ReconnectingClient {
  readonly #dependencies: ReconnectingClientDependencies
  #connection: Connection | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(parts: ReconnectingClientDependencies, connection?: Connection) {
    this.#dependencies = parts
    this.#connection = connection
  }

  /** A connection, however long that takes. What is wrong with the answer, not with the connection, is thrown. */
  async waitForConnection(signal: AbortSignal): Promise<Connection> {
    for (let wait = INITIAL_BACKOFF_MS; ; wait = Math.min(MAX_BACKOFF_MS, wait * 2)) {
      signal.throwIfAborted()
      try {
        return await this.getConnection()
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error
        this.#dependencies.reportProblem(error.message)
        await pause(wait, undefined, { signal })
      }
    }
  }

  /** A connection, tried for once. */
  async getConnection(): Promise<Connection> {
    this.#connection ??= await this.#dependencies.connect(true)
    return this.#connection
  }

  /** Nobody answered: what was known of the service may be wrong. */
  markLost(why: string): void {
    this.#connection = undefined
    this.#dependencies.reportProblem(why)
  }

  /** It answered. */
  markReachable(): void {
    this.#dependencies.reportProblem(undefined)
  }

  /** Looks now and then whether the service is there, so that it is known before the next message. It is not started for that. */
  watch(): void {
    this.#timer ??= setInterval(() => void this.#check(), CHECK_INTERVAL_MS)
    this.#timer.unref()
  }

  async #check(): Promise<void> {
    try {
      this.#connection ??= await this.#dependencies.connect(false)
      if (await this.#dependencies.isReachable(this.#connection.url)) this.markReachable()
      else this.markLost('The daemon does not answer.')
    } catch (error) {
      this.markLost((error as Error).message) // whatever it is: the next message meets it again, and says it in full
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
