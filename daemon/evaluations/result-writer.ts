/** Results of a run as they come, written together with what they took: those that come while others are being written wait for the next time. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Meter, Settlement } from '../core/meter.ts'
import type { Database } from '../store/database.ts'
import { insertResults, type Result } from './run-store.ts'

const BATCH_DELAY_MS = 50

export interface FinishedCase {
  result?: Result
  unsettled: readonly Settlement[]
}

export interface ResultWriterDependencies {
  database: Database
  meter: Meter
}

export class ResultWriter {
  readonly #dependencies: ResultWriterDependencies
  readonly #runId: string
  readonly #onWritten: () => void
  #pending: FinishedCase[] = []
  #writing: Promise<void> | undefined
  readonly #closing = new AbortController()
  #failure: { error: unknown } | undefined

  constructor(parts: ResultWriterDependencies, runId: string, written: () => void) {
    this.#dependencies = parts
    this.#runId = runId
    this.#onWritten = written
  }

  add(finished: FinishedCase): void {
    this.#pending.push(finished)
    this.#writing ??= this.#flush()
  }

  /** Whether results can no longer be stored: to ask for more would cost and give nothing. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /** Nothing more comes. Throws what kept results from being stored. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writing
    if (this.#failure) throw this.#failure.error
  }

  /** Never throws: nobody may be waiting yet, and a rejection that nobody hears ends the process. */
  async #flush(): Promise<void> {
    while (this.#pending.length > 0) {
      // Results that end in the same moment go together.
      await pause(BATCH_DELAY_MS, undefined, { signal: this.#closing.signal }).catch(() => {}) // cut short: nothing more comes
      const batch = this.#pending
      this.#pending = []
      const unsettled = batch.flatMap((each) => each.unsettled)
      const results = this.#failure ? [] : batch.flatMap(({ result }) => result ?? [])
      try {
        const { database, meter } = this.#dependencies
        await database.write(async (transaction) => {
          await meter.settleAll(transaction, unsettled)
          await insertResults(transaction, this.#runId, results)
        })
      } catch (error) {
        // What was spent counts, also where nothing comes of it: it is tried once more alone.
        if (!this.#failure) this.#pending.unshift({ unsettled })
        this.#failure ??= { error }
      }
      this.#onWritten()
    }
    this.#writing = undefined
  }
}
