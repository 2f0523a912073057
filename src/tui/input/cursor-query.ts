/** Asks the terminal for the row of the cursor. */

import { scaleTimeout, startDeadline } from '../../deadline.ts'

const QUERY = '\u001b[6n'
/** Enough for a slow connection. A terminal that does not answer in time is not asked again. */
const TIMEOUT_MS = 1_000

export class CursorQuery {
  readonly #write: (text: string) => void
  readonly #timeoutMs: number
  #answer: Promise<number | undefined> | undefined
  #resolve: ((row: number | undefined) => void) | undefined
  #isUnanswered = false

  constructor(write: (text: string) => void, timeoutMs = scaleTimeout(TIMEOUT_MS)) {
    this.#write = write
    this.#timeoutMs = timeoutMs
  }

  /** Resolves when no answer is expected any more, which another program would otherwise read. */
  get settled(): Promise<unknown> {
    return Promise.resolve(this.#answer)
  }

  /** Resolves with the row, from 0, or undefined if the terminal does not report it. */
  ask(): Promise<number | undefined> {
    if (this.#isUnanswered) return Promise.resolve(undefined)
    this.#answer ??= new Promise((resolve) => {
      const deadline = startDeadline(this.#timeoutMs, () => {
        this.#isUnanswered = true
        this.#resolve?.(undefined)
      })
      this.#resolve = (row) => {
        deadline.cancel()
        this.#answer = undefined
        this.#resolve = undefined
        resolve(row)
      }
      this.#write(QUERY)
    })
    return this.#answer
  }

  /** Receives the parameters of the report: row and column, from 1. */
  receive(parameters: string): void {
    this.#resolve?.(Number.parseInt(parameters, 10) - 1)
  }
}
