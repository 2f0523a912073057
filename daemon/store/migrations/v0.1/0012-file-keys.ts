/** Migration 0012: keys that distinguish resources with the same name in files. */
import type { Migration } from '../../migration.ts'

export const fileKeys: Migration = {
  name: '0012-file-keys',
  async up(transaction) {
    await transaction.run('CREATE TABLE file_keys (id TEXT PRIMARY KEY, key TEXT NOT NULL) WITHOUT ROWID')
  },
}
