/** Stores tokens, with only the SHA-256 hash of the secret. */
import type { Static } from 'typebox'
import { Token } from '../../src/contract/families/tokens.ts'
import type { Database, DatabaseReader } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredToken = Static<typeof Token> & StoredRecord & { hash: string }

export const tokenRecords = new Records<StoredToken>({ table: 'tokens', schema: Token, hidden: ['hash'] })

/** Counts the admin tokens without an expiry. */
export async function countOtherAdmins(reader: DatabaseReader, exceptId: string): Promise<number> {
  const sql = "SELECT count(*) AS total FROM tokens WHERE role = 'admin' AND id <> ? AND expires_at IS NULL"
  return (await reader.get<{ total: number }>(sql, [exceptId]))?.total ?? 0
}

/** Does not change the version of the token. */
export async function updateLastUsed(database: Database, id: string, at: string): Promise<void> {
  await database.write((transaction) => transaction.run('UPDATE tokens SET last_used_at = ? WHERE id = ?', [at, id]))
}
