/** Migration 0022: tools that an agent may call without confirmation. */
import type { Migration } from '../../migration.ts'

export const allowedTools: Migration = {
  name: '0022-allowed-tools',
  async up(transaction) {
    await transaction.run("ALTER TABLE agents ADD COLUMN allowed_tools TEXT NOT NULL DEFAULT '[]'")
  },
}
