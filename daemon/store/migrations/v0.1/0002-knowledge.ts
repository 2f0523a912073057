/** Migration 0002: documents, passages and indexes. */
import type { Migration } from '../../migration.ts'

export const knowledge: Migration = {
  name: '0002-knowledge',
  async up(transaction) {
    await transaction.run("ALTER TABLE documents ADD COLUMN origin TEXT NOT NULL DEFAULT 'sent'")
    await transaction.run('ALTER TABLE documents ADD COLUMN fingerprint TEXT')
    await transaction.run('ALTER TABLE knowledge_sources ADD COLUMN error TEXT')
    await transaction.run('CREATE INDEX knowledge_sources_by_error ON knowledge_sources (error, created_at, id)')
    await transaction.run(
      `CREATE TABLE indexes (id TEXT PRIMARY KEY, knowledge_source_id TEXT NOT NULL, embedding_model TEXT NOT NULL, chunk_size
        INTEGER NOT NULL, chunk_overlap INTEGER NOT NULL, ready INTEGER NOT NULL, generation INTEGER NOT NULL, batch TEXT, UNIQUE
        (knowledge_source_id, embedding_model, chunk_size, chunk_overlap)) WITHOUT ROWID`,
    )
    await transaction.run(
      'CREATE TABLE index_users (index_id TEXT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY (index_id, user_id)) WITHOUT ROWID',
    )
    await transaction.run('CREATE INDEX index_users_by_user ON index_users (user_id)')
    await transaction.run(
      `CREATE TABLE index_documents (index_id TEXT NOT NULL, document_id TEXT NOT NULL, content_hash TEXT NOT NULL, chunks INTEGER
        NOT NULL, embedded INTEGER NOT NULL, PRIMARY KEY (index_id, document_id)) WITHOUT ROWID`,
    )
  },
}
