/** What the chat asks of the service beside replies: agents, models, conversations, tools, passages, usage. */
import type { Static } from 'typebox'
import { ignoreForbidden } from '../../cli/ask/find-agent-model.ts'
import { resolveResource } from '../../cli/resources/resolve-references.ts'
import { agentTopic } from '../../cli/resources/topics/agents.ts'
import { conversationTopic } from '../../cli/resources/topics/conversations.ts'
import { modelTopic } from '../../cli/resources/topics/models.ts'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { type Agent, type AgentItem, agentRoutes } from '../../contract/families/agents.ts'
import { type ConversationItem, conversationRoutes } from '../../contract/families/conversations.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import type { Message } from '../state/reply-reducer.ts'

export type AgentRecord = Static<typeof Agent>
export type ModelRecord = Static<typeof Model>
export type ConversationRecord = Static<typeof ConversationItem>

const PAGE_SIZE = 100

export async function listAgents(connection: Connection): Promise<Static<typeof AgentItem>[]> {
  return (await call(connection, agentRoutes.list, { query: { limit: PAGE_SIZE, sort: 'name', order: 'asc' } })).data
}

/** By name or identifier. */
export async function findAgent(connection: Connection, name: string): Promise<AgentRecord> {
  const id = await resolveResource(connection, agentTopic, name)
  return (await call(connection, agentRoutes.get, { params: { id } })).data
}

export function listModels(connection: Connection): Promise<ModelRecord[]> {
  const asked = call(connection, modelRoutes.list, { query: { limit: PAGE_SIZE, sort: 'name', order: 'asc' } })
  return ignoreForbidden(
    asked.then(({ data }) => data),
    [],
  )
}

/** By name, identifier, or the provider's own name for it. */
export async function findModel(connection: Connection, name: string): Promise<ModelRecord> {
  const known = (await listModels(connection)).filter((model) => [model.name, model.id, model.model_id].includes(name))
  if (known.length === 1 && known[0]) return known[0]
  const id = await resolveResource(connection, modelTopic, name)
  return (await call(connection, modelRoutes.get, { params: { id } })).data
}

/** The newest first; with `mine` only the caller's own: an admin sees those of others, too. */
export async function listConversations(connection: Connection, { mine }: { mine: boolean }): Promise<ConversationRecord[]> {
  const query = { mine, limit: PAGE_SIZE, sort: 'updated_at', order: 'desc' as const }
  return (await call(connection, conversationRoutes.list, { query })).data
}

/** The caller's own, then those of others that the caller may see. */
export async function listConversationsByOwner(
  connection: Connection,
): Promise<{ own: ConversationRecord[]; others: ConversationRecord[] }> {
  const [own, all] = await Promise.all([listConversations(connection, { mine: true }), listConversations(connection, { mine: false })])
  const user = own[0]?.user_id
  return { own, others: all.filter(({ user_id }) => user_id !== user) }
}

export async function findConversation(connection: Connection, name: string): Promise<ConversationRecord> {
  const id = await resolveResource(connection, conversationTopic, name)
  const { messages: _, ...conversation } = (await call(connection, conversationRoutes.get, { params: { id } })).data
  return conversation
}

export async function createConversation(connection: Connection, agent: string): Promise<ConversationRecord> {
  const { messages: _, ...conversation } = (await call(connection, conversationRoutes.create, { body: { agent_id: agent } })).data
  return conversation
}

/** The last messages, oldest first, and how many there are before them. */
export async function listLastMessages(
  connection: Connection,
  id: string,
  most: number,
): Promise<{ messages: Message[]; earlier: number }> {
  const messages: Message[] = []
  for (let page = 1; ; page++) {
    const query = { page, limit: Math.min(PAGE_SIZE, most), order: 'desc' as const }
    const { data, pagination } = await call(connection, conversationRoutes.messages, { params: { id }, query })
    messages.push(...data)
    if (messages.length >= most || page >= pagination.pages)
      return { messages: messages.slice(0, most).reverse(), earlier: Math.max(0, pagination.total - most) }
  }
}

export async function renameConversation(connection: Connection, id: string, title: string): Promise<void> {
  await call(connection, conversationRoutes.update, { params: { id }, body: { title } })
}
