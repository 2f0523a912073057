/** Migration 0006: the event log and the webhook outbox. */
import type { Migration } from '../../migration.ts'

export const webhooks: Migration = {
  name: '0006-webhooks',
  async up(transaction) {
    // AUTOINCREMENT: event IDs are never reused, even after the newest events were deleted.
    await transaction.run(
      `CREATE TABLE events (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, body TEXT NOT
        NULL, created_at TEXT NOT NULL)`,
    )
    await transaction.run('CREATE INDEX events_by_created_at ON events (created_at)')
    await transaction.run(
      `CREATE TABLE deliveries (id TEXT PRIMARY KEY, webhook_id TEXT NOT NULL, event_id TEXT NOT NULL, event TEXT NOT NULL, status
        TEXT NOT NULL, attempts INTEGER NOT NULL, step INTEGER NOT NULL, response_status INTEGER, response_body TEXT, error TEXT,
        last_attempt_at TEXT, next_attempt_at TEXT, history TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1, created_at TEXT NOT
        NULL, updated_at TEXT NOT NULL) WITHOUT ROWID`,
    )
    await transaction.run('CREATE INDEX deliveries_of_webhook_by_created_at ON deliveries (webhook_id, created_at, id)')
    await transaction.run('CREATE INDEX deliveries_due ON deliveries (webhook_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL')
    await transaction.run('CREATE INDEX deliveries_by_event ON deliveries (event_id)')
    await transaction.run('CREATE INDEX deliveries_by_created_at ON deliveries (created_at)')
    await transaction.run("ALTER TABLE webhooks ADD COLUMN previous_secrets TEXT NOT NULL DEFAULT '[]'")
  },
}
