/** Migration 0036: memories, and the agents that have them. */
import { createResourceTable, type Migration } from '../../../migration.ts'

export const memories: Migration = {
  name: '0036-memories',
  async up(transaction) {
    await transaction.run('ALTER TABLE agents ADD COLUMN memory INTEGER NOT NULL DEFAULT 0')
    await transaction.run('CREATE INDEX agents_by_memory ON agents (memory, created_at, id)')
    // words identifies a fact; vector is null until it is computed.
    await createResourceTable(
      transaction,
      'memories',
      `agent_id TEXT NOT NULL, user_id TEXT NOT NULL, content TEXT NOT NULL, expires_at TEXT, source TEXT NOT NULL, has_untrusted_text
        INTEGER NOT NULL, conversation_id TEXT, message_id TEXT, history TEXT NOT NULL, words TEXT NOT NULL, vector TEXT`,
      ['agent_id', 'user_id', 'content', 'expires_at', 'source', 'has_untrusted_text', 'conversation_id', 'message_id'],
    )
    await transaction.run('CREATE INDEX memories_by_owner ON memories (agent_id, user_id, created_at, id)')
    await transaction.run(
      'CREATE TRIGGER memories_of_agents AFTER DELETE ON agents BEGIN DELETE FROM memories WHERE agent_id = OLD.id; END',
    )
  },
}
