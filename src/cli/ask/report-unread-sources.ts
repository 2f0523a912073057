/** Reports knowledge sources without documents after a search that found nothing. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { agentRoutes } from '../../contract/families/agents.ts'
import { conversationRoutes } from '../../contract/families/conversations.ts'
import { knowledgeSourceRoutes } from '../../contract/families/knowledge-sources.ts'
import { ragToolRoutes } from '../../contract/families/rag-tools.ts'
import { retrievalToolRoutes } from '../../contract/families/retrieval-tools.ts'
import { detectKind } from '../resources/resource-kinds.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'

export async function reportUnreadSourcesOfConversation(connection: Connection, conversation: string): Promise<void> {
  const { agent_id } = (await call(connection, conversationRoutes.get, { params: { id: conversation } })).data
  if (agent_id !== null)
    await reportUnreadSources(connection, (await call(connection, agentRoutes.get, { params: { id: agent_id } })).data.tools)
}

export async function reportUnreadSources(connection: Connection, tools: readonly string[]): Promise<void> {
  const ids = new Set((await Promise.all(tools.map((tool) => listSourceIds(connection, tool)))).flat())
  for (const id of ids) {
    const { name, statistics } = (await call(connection, knowledgeSourceRoutes.get, { params: { id } })).data
    if (statistics.documents === 0)
      connection.notify(`${sanitizeLine(name)} has no documents. To sync it: cadre knowledge sync ${quoteShellWord(name)}`)
  }
}

async function listSourceIds(connection: Connection, tool: string): Promise<string[]> {
  const params = { id: tool }
  switch (detectKind(tool)) {
    case 'rag_tool':
      return [(await call(connection, ragToolRoutes.get, { params })).data.knowledge_source_id].filter((id) => id !== null)
    case 'retrieval_tool':
      return (await call(connection, retrievalToolRoutes.get, { params })).data.knowledge_source_ids
    default:
      return []
  }
}
