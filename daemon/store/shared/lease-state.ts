/** What the holder of a lease tells the other daemons about its work. */
import type { Database, Reader } from '../database.ts'

/** Returns false if another daemon holds the lease. */
export async function storeLeaseState(database: Database, name: string, state: unknown): Promise<boolean> {
  const sql = 'UPDATE leases SET state = ? WHERE name = ? AND holder = ?'
  const values = [JSON.stringify(state), name, database.daemonId ?? '']
  return (await database.write((transaction) => transaction.run(sql, values))) === 1
}

/** The last state, if another daemon stored it. */
export async function readLeaseState<T>(reader: Reader, name: string, { daemonId = '' }: Database): Promise<T | undefined> {
  const row = await reader.get<{ state: string | null }>('SELECT state FROM leases WHERE name = ? AND holder <> ?', [name, daemonId])
  return row?.state ? (JSON.parse(row.state) as T) : undefined
}

/** For work that will never be done again: also if another daemon holds the lease. */
export async function deleteLease(database: Database, name: string): Promise<void> {
  await database.write((transaction) => transaction.run('DELETE FROM leases WHERE name = ?', [name]))
}
