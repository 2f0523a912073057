/** Migration 0030: documents on object storage. */
import type { Migration } from '../../migration.ts'

export const objectStorage: Migration = {
  name: '0030-object-storage',
  async up(transaction) {
    // How often the content was removed from the bucket; content that is stored again gets a new key.
    await transaction.run(
      `CREATE TABLE original_removals (content_hash TEXT PRIMARY KEY, removals INTEGER NOT NULL, removed_at INTEGER NOT NULL)
        WITHOUT ROWID`,
    )
    // Also in the bucket, so that no other database uses it.
    await transaction.run('CREATE TABLE storage (id TEXT NOT NULL)')
  },
}
