/** Step 0012: keys by which files tell resources of one name apart. */
import type { Migration } from '../migration.ts'

export const fileKeys: Migration = {
  name: '0012-file-keys',
  async up(transaction) {
    await transaction.run('CREATE TABLE file_keys (id TEXT PRIMARY KEY, key TEXT NOT NULL) WITHOUT ROWID')
  },
}
