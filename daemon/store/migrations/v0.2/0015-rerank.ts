/** Migration 0015: whether RAG tools and retrieval tools rerank passages. */
import type { Migration } from '../../migration.ts'

export const rerank: Migration = {
  name: '0015-rerank',
  async up(transaction) {
    await transaction.run('ALTER TABLE rag_tools ADD COLUMN rerank INTEGER NOT NULL DEFAULT 1')
    await transaction.run('ALTER TABLE retrieval_tools ADD COLUMN rerank INTEGER NOT NULL DEFAULT 0')
    for (const table of ['rag_tools', 'retrieval_tools'])
      await transaction.run(`CREATE INDEX ${table}_by_rerank ON ${table} (rerank, created_at, id)`)
  },
}
