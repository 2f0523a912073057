/** Migration 0037: the currency of costs. */
import type { Migration } from '../../migration.ts'

export const currency: Migration = {
  name: '0037-currency',
  async up(transaction) {
    await transaction.run("ALTER TABLE settings ADD COLUMN currency TEXT NOT NULL DEFAULT 'USD'")
  },
}
