/** Migration 0033: the largest output of an open call, which a budget reserves, and questions of MCP clients to their users. */
import type { Migration } from '../../migration.ts'

export const reservations: Migration = {
  name: '0033-reservations',
  async up(transaction) {
    await transaction.run('ALTER TABLE usage_calls ADD COLUMN reserved_output INTEGER')
    // Stored, because the answer may reach another daemon.
    await transaction.run(
      'CREATE TABLE mcp_confirmations (state TEXT PRIMARY KEY, call TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID',
    )
  },
}
