/** Runs work within a savepoint and rolls it back. */
import type { Transaction } from '../store/database.ts'

export async function runAndRollBack<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  await transaction.run('SAVEPOINT tried')
  try {
    return await work()
  } finally {
    await transaction.run('ROLLBACK TO tried')
    await transaction.run('RELEASE tried')
  }
}
