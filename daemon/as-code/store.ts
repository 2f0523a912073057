/** Doing something to see what it comes to, and taking it back. */
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
