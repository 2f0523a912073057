/** Tokens as they are stored: only the SHA-256 of the secret. */
import type { Static } from 'typebox'
import { Token } from '../../src/contract/families/tokens.ts'
import type { Database, Reader } from '../store/database.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredToken = Static<typeof Token> & StoredRecord & { hash: string }

export const tokenRecords = new Records<StoredToken>({ table: 'tokens', schema: Token, hidden: ['hash'] })

/** Admin tokens that stay; one that expires would leave nobody in the end. */
export async function countOtherAdmins(reader: Reader, without: string): Promise<number> {
  const counted = await reader.get<{ total: number }>(
    "SELECT count(*) AS total FROM tokens WHERE role = 'admin' AND id <> ? AND expires_at IS NULL",
    [without],
  )
  return counted?.total ?? 0
}

/** Being used is no change of a token: its version stays. */
export async function updateLastUsed(database: Database, id: string, at: string): Promise<void> {
  await database.write((transaction) => transaction.run('UPDATE tokens SET last_used_at = ? WHERE id = ?', [at, id]))
}
