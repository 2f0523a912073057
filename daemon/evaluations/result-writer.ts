/** Writes the results of a run in batches, each in one transaction with the settlement of its model calls. */
import { setTimeout as pause } from 'node:timers/promises'
import type { CadreError } from '../../src/contract/errors.ts'
import type { Meter, Settlement } from '../core/meter.ts'
import type { Database } from '../store/database.ts'
import { retryWrite } from '../store/remote/retry-write.ts'
import { insertResults, type Result } from './run-store.ts'

const BATCH_DELAY_MS = 50

export interface FinishedCase {
  result?: Result
  unsettled: readonly Settlement[]
  /** A store could not be reached: the case runs again. */
  outage?: CadreError
}

interface ResultWriterDependencies {
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

  constructor(dependencies: ResultWriterDependencies, runId: string, onWritten: () => void) {
    this.#dependencies = dependencies
    this.#runId = runId
    this.#onWritten = onWritten
  }

  add(finishedCase: FinishedCase): void {
    this.#pending.push(finishedCase)
    this.#writing ??= this.#flush()
  }

  /** Whether a write failed. Further model calls would be wasted. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /** Writes the remaining results. Throws the error of a failed write. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writing
    if (this.#failure) throw this.#failure.error
  }

  /** Never rejects: an unhandled rejection would end the process. */
  async #flush(): Promise<void> {
    while (this.#pending.length > 0) {
      await pause(BATCH_DELAY_MS, undefined, { signal: this.#closing.signal }).catch(() => {}) // aborted by close()
      const batch = this.#pending
      this.#pending = []
      const unsettled = batch.flatMap((each) => each.unsettled)
      const results = this.#failure ? [] : batch.flatMap(({ result }) => result ?? [])
      try {
        const { database, meter } = this.#dependencies
        await retryWrite(database, async (transaction) => {
          await meter.settleAll(transaction, unsettled)
          await insertResults(transaction, this.#runId, results)
        })
      } catch (error) {
        // Usage counts even without a result: retry the settlements alone, once.
        if (!this.#failure) this.#pending.unshift({ unsettled })
        this.#failure ??= { error }
      }
      this.#onWritten()
    }
    this.#writing = undefined
  }
}
