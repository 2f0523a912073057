/** Runs writes so that what they delete cannot be read in the database file any more. A server has files of its own. */
import type { Transaction } from '../store/database.ts'

export async function overwriteDeleted<T>(transaction: Transaction, write: () => Promise<T>): Promise<T> {
  if (transaction.daemonId !== null) return write()
  await transaction.get('PRAGMA secure_delete = ON')
  try {
    return await write()
  } finally {
    await transaction.get('PRAGMA secure_delete = OFF')
  }
}
