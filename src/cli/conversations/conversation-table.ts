/** Builds the table of conversations for `conversations list`. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import { fetchNames } from '../resources/resource-names.ts'
import type { OutputData } from '../terminal/render.ts'
import type { Row } from '../terminal/table.ts'

/** Adds the agent's name, and the owner of conversations that belong to other users. */
export async function buildConversationTable(connection: Connection, rows: readonly Row[]): Promise<OutputData> {
  const ownUser = (await call(connection, conversationRoutes.list, { query: { mine: true, limit: 1 } })).data[0]?.user_id
  const agentIds = rows.map(({ agent_id }) => agent_id).filter((id) => typeof id === 'string')
  const names = await fetchNames(connection, agentIds)
  const data = rows.map((row) => ({
    ...row,
    agent: names.get(String(row.agent_id)) ?? row.agent_id,
    owner: row.user_id === ownUser ? '' : row.user_id,
  }))
  const hasOtherOwners = data.some(({ owner }) => owner !== '')
  return { data, columns: ['id', 'title', 'agent', ...(hasOtherOwners ? ['owner'] : []), 'status', 'updated_at'] }
}
