/** Checks that all daemons of a shared database seal secrets with the same key. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { Database } from '../database.ts'
import { retryWrite } from './retry-write.ts'

/** The first daemon decides. The key itself is never stored. */
export async function checkVaultKey(database: Database, fingerprint: string | undefined): Promise<void> {
  if (!database.isRemote || fingerprint === undefined) return
  const stored = await retryWrite(database, async (transaction) => {
    const row = await transaction.get<{ fingerprint: string }>('SELECT fingerprint FROM vault')
    if (!row) await transaction.run('INSERT INTO vault (fingerprint) VALUES (?)', [fingerprint])
    return row?.fingerprint ?? fingerprint
  })
  if (stored === fingerprint) return
  throw new CadreError('UNAVAILABLE', `The secrets in the database at ${database.location} are sealed with another vault key.`, {
    hint: 'Start all daemons of a database with the same CADRE_VAULT_KEY. Its first daemon may have used the key of its home (vault.key).',
  })
}
