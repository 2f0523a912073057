/** Whose conversations are, for those who see others' too: one's own need no name beside them. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import { namesOfAll } from '../resources/resource-names.ts'
import type { OutputData } from '../terminal/render.ts'
import type { Row } from '../terminal/table.ts'

/** The user that the caller's own conversations belong to; undefined where there are none yet. */
async function findOwnUser(connection: Connection): Promise<string | undefined> {
  return (await call(connection, conversationRoutes.list, { query: { mine: true, limit: 1 } })).data[0]?.user_id
}

/** A table of conversations, with the agent of each, and whose it is where it is somebody else's. */
export async function buildConversationTable(connection: Connection, rows: readonly Row[]): Promise<OutputData> {
  const own = await findOwnUser(connection)
  const agents = await namesOfAll(
    connection,
    rows.map(({ agent_id }) => agent_id).filter((id) => typeof id === 'string'),
  )
  const agentOf = ({ agent_id }: Row) => agents.get(String(agent_id)) ?? agent_id
  const data = rows.map((row) => ({ ...row, agent: agentOf(row), of: row.user_id === own ? '' : row.user_id }))
  const others = data.some((row) => row.of !== '')
  return { data, columns: ['id', 'title', 'agent', ...(others ? ['of'] : []), 'status', 'updated_at'] }
}
