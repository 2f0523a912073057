/** Migration 0023: the full-text index of messages. */
import type { Migration } from '../../migration.ts'

/**
 * The number of a message contains the number of its conversation (`number >> 20`), so that a search counts conversations without
 * reading another table. Numbers are integer primary keys, which VACUUM does not change.
 */
export const messageSearch: Migration = {
  name: '0023-message-search',
  async up(transaction) {
    await transaction.run('CREATE TABLE searchable_conversations (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)')
    await transaction.run(
      'CREATE TABLE searchable_messages (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL)',
    )
    await transaction.run(
      `CREATE VIRTUAL TABLE message_words USING fts5 (content, content = '', contentless_delete = 1,
        tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'")`,
    )
    await transaction.run(
      `CREATE TRIGGER messages_not_searchable AFTER DELETE ON messages BEGIN DELETE FROM message_words WHERE rowid = (SELECT number
        FROM searchable_messages WHERE id = OLD.id); DELETE FROM searchable_messages WHERE id = OLD.id; END`,
    )
    await transaction.run(
      `CREATE TRIGGER conversations_not_searchable AFTER DELETE ON conversations BEGIN DELETE FROM searchable_conversations WHERE
        id = OLD.id; END`,
    )
    // Existing messages are indexed in the background: the ids after indexed_id, up to last_id.
    await transaction.run('CREATE TABLE messages_to_index (indexed_id TEXT NOT NULL, last_id TEXT NOT NULL)')
    await transaction.run("INSERT INTO messages_to_index SELECT '', id FROM messages ORDER BY id DESC LIMIT 1")
  },
}
