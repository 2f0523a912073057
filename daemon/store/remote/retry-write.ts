/** Repeats a write while the database server cannot be reached, so that finished work is not lost. */
import { setTimeout as pause } from 'node:timers/promises'
import { CadreError } from '../../../src/contract/errors.ts'
import type { Database, Transaction } from '../database.ts'

const MAX_RETRY_MS = 60_000
const MAX_DELAY_MS = 2_000

/** The work may run several times, so it must change nothing but the database. Writes to a file are not repeated. */
export async function retryWrite<T>(database: Database, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const deadline = performance.now() + MAX_RETRY_MS
  for (let delay = 100; ; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
    try {
      return await database.write(work)
    } catch (error) {
      const isTemporary = error instanceof CadreError && error.retryAfterSeconds !== undefined
      if (!isTemporary || performance.now() > deadline) throw error
      await pause(delay)
    }
  }
}
