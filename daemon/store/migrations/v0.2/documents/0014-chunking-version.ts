/** Migration 0014: indexes know the version of the chunking that made them, and two versions can exist during an upgrade. */
import type { Migration } from '../../../migration.ts'

export const chunkingVersion: Migration = {
  name: '0014-chunking-version',
  async up(transaction) {
    // Copied, because SQLite cannot change the constraint of a table.
    await transaction.run(
      `CREATE TABLE versioned_indexes (id TEXT PRIMARY KEY, knowledge_source_id TEXT NOT NULL, embedding_model TEXT NOT NULL,
        chunk_size INTEGER NOT NULL, chunk_overlap INTEGER NOT NULL, chunking_version INTEGER NOT NULL, ready INTEGER NOT NULL,
        generation INTEGER NOT NULL, batch TEXT,
        UNIQUE (knowledge_source_id, embedding_model, chunk_size, chunk_overlap, chunking_version)) WITHOUT ROWID`,
    )
    await transaction.run(
      `INSERT INTO versioned_indexes
       SELECT id, knowledge_source_id, embedding_model, chunk_size, chunk_overlap, 1, ready, generation, batch FROM indexes`,
    )
    await transaction.run('DROP TABLE indexes')
    await transaction.run('ALTER TABLE versioned_indexes RENAME TO indexes')
  },
}
