/** Migration 0035: summaries of the earlier messages of long conversations. */
import type { Migration } from '../../../migration.ts'

export const conversationSummaries: Migration = {
  name: '0035-conversation-summaries',
  async up(transaction) {
    // last_created_at and last_message_id are the position of the last message that the summary covers.
    await transaction.run(
      `CREATE TABLE conversation_summaries (conversation_id TEXT PRIMARY KEY, content TEXT NOT NULL, message_count INTEGER NOT NULL,
        last_message_id TEXT NOT NULL, last_created_at TEXT NOT NULL, model_id TEXT, has_untrusted_text INTEGER NOT NULL,
        updated_at TEXT NOT NULL) WITHOUT ROWID`,
    )
  },
}
