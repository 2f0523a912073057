/** Builds the table of conversations for `conversations list`. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import { fetchNames } from '../resources/resource-names.ts'
import type { OutputData } from '../terminal/render.ts'
import type { Row } from '../terminal/table.ts'

/** Returns the user of the caller's own conversations; undefined if there are none. */
async function findOwnUser(connection: Connection): Promise<string | undefined> {
  return (await call(connection, conversationRoutes.list, { query: { mine: true, limit: 1 } })).data[0]?.user_id
}

/** Adds the agent's name, and the owner of conversations that belong to other users. */
export async function buildConversationTable(connection: Connection, rows: readonly Row[]): Promise<OutputData> {
  const own = await findOwnUser(connection)
  const agents = await fetchNames(
    connection,
    rows.map(({ agent_id }) => agent_id).filter((id) => typeof id === 'string'),
  )
  const agentOf = ({ agent_id }: Row) => agents.get(String(agent_id)) ?? agent_id
  const data = rows.map((row) => ({ ...row, agent: agentOf(row), of: row.user_id === own ? '' : row.user_id }))
  const others = data.some((row) => row.of !== '')
  return { data, columns: ['id', 'title', 'agent', ...(others ? ['of'] : []), 'status', 'updated_at'] }
}
