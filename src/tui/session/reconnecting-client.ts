/** The connection to the service, kept through its restarts: whoever needs it waits until it is back, and the screen says why. */
import { setTimeout as pause } from 'node:timers/promises'
import { UnreachableError } from '../../client/failures.ts'
import type { Connection } from '../../client/request.ts'

export interface LinkParts {
  /** Finds the service, or starts it where that is allowed. */
  connect: (start: boolean) => Promise<Connection>
  /** Whether it answers at that address. */
  answers: (url: string) => Promise<boolean>
  /** Tells what is wrong; undefined when nothing is any more. */
  tell: (trouble: string | undefined) => void
}

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000
const LOOK_EVERY_MS = 5_000

export class Link {
  readonly #parts: LinkParts
  #connection: Connection | undefined
  #watching: NodeJS.Timeout | undefined

  constructor(parts: LinkParts, connection?: Connection) {
    this.#parts = parts
    this.#connection = connection
  }

  /** A connection, however long that takes. What is wrong with the answer, not with the connection, is thrown. */
  async ready(signal: AbortSignal): Promise<Connection> {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
      signal.throwIfAborted()
      try {
        return await this.now()
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error
        this.#parts.tell(error.message)
        await pause(wait, undefined, { signal })
      }
    }
  }

  /** A connection, tried for once. */
  async now(): Promise<Connection> {
    this.#connection ??= await this.#parts.connect(true)
    return this.#connection
  }

  /** Nobody answered: what was known of the service may be wrong. */
  lost(why: string): void {
    this.#connection = undefined
    this.#parts.tell(why)
  }

  /** It answered. */
  good(): void {
    this.#parts.tell(undefined)
  }

  /** Looks now and then whether the service is there, so that it is known before the next message. It is not started for that. */
  watch(): void {
    this.#watching ??= setInterval(() => void this.#look(), LOOK_EVERY_MS)
    this.#watching.unref()
  }

  async #look(): Promise<void> {
    try {
      this.#connection ??= await this.#parts.connect(false)
      if (await this.#parts.answers(this.#connection.url)) this.good()
      else this.lost('The daemon does not answer.')
    } catch (error) {
      this.lost((error as Error).message) // whatever it is: the next message meets it again, and says it in full
    }
  }

  close(): void {
    clearInterval(this.#watching)
  }
}
