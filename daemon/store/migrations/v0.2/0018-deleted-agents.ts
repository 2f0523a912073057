/** Migration 0018: conversations keep the id of their deleted agent. */
import type { Migration } from '../../migration.ts'

export const deletedAgents: Migration = {
  name: '0018-deleted-agents',
  async up(transaction) {
    await transaction.run('ALTER TABLE conversations ADD COLUMN deleted_agent_id TEXT')
    // Agents that were deleted before: the ledger has their ids.
    await transaction.run(
      `UPDATE conversations SET deleted_agent_id = call.agent_id FROM (SELECT conversation_id, max(agent_id) AS agent_id FROM
        usage_calls WHERE conversation_id IN (SELECT id FROM conversations WHERE agent_id IS NULL) GROUP BY conversation_id) AS call
        WHERE conversations.id = call.conversation_id AND conversations.agent_id IS NULL`,
    )
    await transaction.run(
      `CREATE INDEX conversations_by_deleted_agent_id ON conversations (deleted_agent_id, created_at, id)
        WHERE deleted_agent_id IS NOT NULL`,
    )
    await transaction.run(
      `CREATE TRIGGER conversations_detached AFTER UPDATE OF agent_id ON conversations WHEN OLD.agent_id IS NOT NULL AND NEW.agent_id
        IS NULL BEGIN UPDATE conversations SET deleted_agent_id = OLD.agent_id WHERE id = OLD.id; END`,
    )
  },
}
