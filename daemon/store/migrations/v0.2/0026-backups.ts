/** Migration 0026: daily backups. */
import type { Migration } from '../../migration.ts'

export const backups: Migration = {
  name: '0026-backups',
  async up(transaction) {
    await transaction.run('ALTER TABLE settings ADD COLUMN daily_backups INTEGER NOT NULL DEFAULT 0')
    await transaction.run('ALTER TABLE settings ADD COLUMN last_backup_at TEXT')
  },
}
