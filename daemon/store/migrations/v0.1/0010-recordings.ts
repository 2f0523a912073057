/** Migration 0010: recorded model responses for replay. */
import type { Migration } from '../../migration.ts'

export const recordings: Migration = {
  name: '0010-recordings',
  async up(transaction) {
    await transaction.run('ALTER TABLE models ADD COLUMN recording INTEGER')
    await transaction.run('CREATE INDEX models_by_recording ON models (recording, created_at, id)')
    await transaction.run(
      `CREATE TABLE recordings (model_id TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, parts TEXT NOT NULL, created_at
        TEXT NOT NULL, PRIMARY KEY (model_id, key)) WITHOUT ROWID`,
    )
    await transaction.run('CREATE INDEX recordings_by_age ON recordings (model_id, created_at, key)')
  },
}
