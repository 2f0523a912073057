/** Gets the conversation that `--continue` continues: the caller's newest one whose agent exists. */
import { call } from '../../client/call.ts'
import { paginate } from '../../client/paginate.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { type ConversationItem, conversationRoutes } from '../../contract/families/conversations.ts'

/** Prefers active conversations: completing a conversation updates it, so a completed one may only seem newest. */
export async function getLastConversation(connection: Connection, agent: string | undefined): Promise<ConversationItem> {
  const last = (await findNewest(connection, 'active', agent)) ?? (await findNewest(connection, 'completed', agent))
  if (!last) throw new CadreError('NOT_FOUND', 'There is no conversation to continue.', { hint: 'Omit --continue to start one.' })
  return last
}

/** Skips conversations of deleted agents, which are updated by the deletion and would come first. */
async function findNewest(
  connection: Connection,
  status: ConversationItem['status'],
  agent: string | undefined,
): Promise<ConversationItem | undefined> {
  const query = { mine: true, status, sort: 'updated_at', order: 'desc', limit: 20, agent_id: agent }
  const read = (page: number) => call(connection, conversationRoutes.list, { query: { ...query, page } as object })
  for await (const { data } of paginate(read)) {
    const newest = data.find(({ agent_id }) => agent_id !== null)
    if (newest) return newest
  }
  return undefined
}
