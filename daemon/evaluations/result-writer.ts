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

export function createResultWriter({ database, meter }: ResultWriterDependencies, runId: string, onWritten: () => void) {
  let pending: FinishedCase[] = []
  let writing: Promise<void> | undefined
  const closing = new AbortController()
  let failure: { error: unknown } | undefined

  function add(finishedCase: FinishedCase): void {
    pending.push(finishedCase)
    writing ??= flush()
  }

  /** Writes the remaining results. Throws the error of a failed write. */
  async function close(): Promise<void> {
    closing.abort()
    await writing
    if (failure) throw failure.error
  }

  /** Never rejects: an unhandled rejection would end the process. */
  async function flush(): Promise<void> {
    while (pending.length > 0) {
      await pause(BATCH_DELAY_MS, undefined, { signal: closing.signal }).catch(() => {}) // aborted by close()
      const batch = pending
      pending = []
      const unsettled = batch.flatMap((each) => each.unsettled)
      const results = failure ? [] : batch.flatMap(({ result }) => result ?? [])
      try {
        await retryWrite(database, async (transaction) => {
          await meter.settleAll(transaction, unsettled)
          await insertResults(transaction, runId, results)
        })
      } catch (error) {
        // Usage counts even without a result: retry the settlements alone, once.
        if (!failure) pending.unshift({ unsettled })
        failure ??= { error }
      }
      onWritten()
    }
    writing = undefined
  }

  /** Whether a write failed. Further model calls would be wasted. */
  const hasFailed = () => failure !== undefined

  return { add, hasFailed, close }
}
