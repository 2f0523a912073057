/** Migration 0021: whether tools are offered to MCP clients. */
import type { Migration } from '../../migration.ts'

export const exposedTools: Migration = {
  name: '0021-exposed-tools',
  async up(transaction) {
    for (const table of ['rag_tools', 'retrieval_tools', 'api_tools']) {
      await transaction.run(`ALTER TABLE ${table} ADD COLUMN expose_mcp INTEGER NOT NULL DEFAULT 0`)
      await transaction.run(`CREATE INDEX ${table}_by_expose_mcp ON ${table} (expose_mcp, created_at, id)`)
    }
  },
}
