/** Results of a run as they come, written together: those that come while others are being written wait for the next time. */
import type { Database } from '../store/database.ts'
import { insertResult, type Result } from './run-store.ts'

const FLUSH_MS = 50

export class ResultQueue {
  readonly #database: Database
  readonly #runId: string
  readonly #written: () => void
  #pending: Result[] = []
  #writing: Promise<void> | undefined
  #failure: { error: unknown } | undefined

  constructor(database: Database, runId: string, written: () => void) {
    this.#database = database
    this.#runId = runId
    this.#written = written
  }

  add(result: Result): void {
    this.#pending.push(result)
    this.#writing ??= this.#write()
  }

  /** Whether results can no longer be stored: to ask for more would cost and give nothing. */
  get broken(): boolean {
    return this.#failure !== undefined
  }

  /** Throws what kept results from being stored. */
  async settled(): Promise<void> {
    await this.#writing
    if (this.#failure) throw this.#failure.error
  }

  /** Never throws: nobody may be waiting yet, and a rejection that nobody hears ends the process. */
  async #write(): Promise<void> {
    while (this.#pending.length > 0 && !this.#failure) {
      // Results that end in the same moment go together.
      await new Promise((resolve) => setTimeout(resolve, FLUSH_MS))
      const batch = this.#pending
      this.#pending = []
      try {
        await this.#database.write(async (transaction) => {
          for (const result of batch) await insertResult(transaction, this.#runId, result)
        })
      } catch (error) {
        this.#failure = { error }
      }
      this.#written()
    }
    this.#writing = undefined
  }
}
