/** Migration 0011: sealed credentials of knowledge sources. */
import type { Migration } from '../../migration.ts'

export const sourceAuth: Migration = {
  name: '0011-source-auth',
  async up(transaction) {
    await transaction.run(`ALTER TABLE knowledge_sources ADD COLUMN auth TEXT NOT NULL DEFAULT '{"type":"none"}'`)
    await transaction.run('ALTER TABLE knowledge_sources ADD COLUMN secrets TEXT')
  },
}
