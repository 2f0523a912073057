/** Migration 0027: usage thresholds have names. */
import type { Migration } from '../../migration.ts'

export const thresholdNames: Migration = {
  name: '0027-threshold-names',
  async up(transaction) {
    for (const column of ['name', 'name_key'])
      await transaction.run(`ALTER TABLE usage_thresholds ADD COLUMN ${column} TEXT NOT NULL DEFAULT ''`)
    await transaction.run('CREATE INDEX usage_thresholds_by_name ON usage_thresholds (name_key, created_at, id)')
  },
}
