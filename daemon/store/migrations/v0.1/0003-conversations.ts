/** Migration 0003: active replies and conversation state. */
import type { Migration } from '../../migration.ts'

export const conversations: Migration = {
  name: '0003-conversations',
  async up(transaction) {
    await transaction.run(
      `CREATE TABLE replies_under_way (message_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, entry TEXT, estimated_input
        INTEGER NOT NULL, said_before INTEGER NOT NULL) WITHOUT ROWID`,
    )
    await transaction.run("CREATE INDEX conversations_going_on ON conversations (updated_at, id) WHERE status = 'active'")
    await transaction.run('ALTER TABLE settings ADD COLUMN conversation_idle_minutes INTEGER NOT NULL DEFAULT 1440')
  },
}
