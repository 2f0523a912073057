import { fetchNames } from '../../src/cli/resources/resource-names.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'
import type { OutputData } from '../../src/cli/terminal/render.ts'
import type { Row } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { conversationRoutes } from '../../src/contract/families/conversations.ts'

/** Adds the agent's name, and the owner of conversations that belong to other users. */
async function buildConversationTable(connection: Connection, rows: readonly Row[]): Promise<OutputData> {
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

export default listCommand(
  conversationTopic,
  [
    {
      command: "cadre conversations list --agent 'Handbook helper' --status active",
      description: 'List the active conversations of an agent',
    },
    { command: 'cadre conversations list --mine', description: 'List only your own conversations' },
  ],
  buildConversationTable,
)
