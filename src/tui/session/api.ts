/** Requests of the chat for agents, models and conversations. */
import { resolveResource } from '../../cli/resources/resolve-references.ts'
import { agentTopic } from '../../cli/resources/topics/agents.ts'
import { conversationTopic } from '../../cli/resources/topics/conversations.ts'
import { modelTopic } from '../../cli/resources/topics/models.ts'
import { call } from '../../client/call.ts'
import { paginate } from '../../client/paginate.ts'
import type { Connection } from '../../client/request.ts'
import { handleError } from '../../contract/errors.ts'
import { type Agent, type AgentItem, agentRoutes } from '../../contract/families/agents.ts'
import { type ConversationItem, type ConversationSearchItem, conversationRoutes } from '../../contract/families/conversations.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import type { Message } from '../../contract/schemas/messages.ts'

const PAGE_SIZE = 100
/** Bounds the time and memory that a very long conversation takes. */
export const MAX_MESSAGES = 10_000

export async function listAgents(connection: Connection): Promise<AgentItem[]> {
  return (await call(connection, agentRoutes.list, { query: { limit: PAGE_SIZE, sort: 'name', order: 'asc' } })).data
}

export async function findAgent(connection: Connection, name: string): Promise<Agent> {
  const id = await resolveResource(connection, agentTopic, name)
  return (await call(connection, agentRoutes.get, { params: { id } })).data
}

/** Members may not read models. */
export async function listModels(connection: Connection): Promise<Model[]> {
  const response = call(connection, modelRoutes.list, { query: { limit: PAGE_SIZE, sort: 'name', order: 'asc' } })
  return (await response.catch(handleError('FORBIDDEN', () => ({ data: [] })))).data
}

/** Finds a model by name, id or the model id of its provider. */
export async function findModel(connection: Connection, name: string): Promise<Model> {
  const matches = (await listModels(connection)).filter((model) => [model.name, model.id, model.model_id].includes(name))
  if (matches.length === 1 && matches[0]) return matches[0]
  const id = await resolveResource(connection, modelTopic, name)
  return (await call(connection, modelRoutes.get, { params: { id } })).data
}

/** Newest first. Without `mine`, an admin also gets the conversations of others. */
export async function listConversations(connection: Connection, { mine }: { mine: boolean }): Promise<ConversationItem[]> {
  const query = { mine, limit: PAGE_SIZE, sort: 'updated_at', order: 'desc' as const }
  return (await call(connection, conversationRoutes.list, { query })).data
}

/** Finds conversations by the text of their messages, best first. */
export async function searchConversations(connection: Connection, q: string): Promise<ConversationSearchItem[]> {
  return (await call(connection, conversationRoutes.list, { query: { q, limit: PAGE_SIZE } })).data
}

export async function listConversationsByOwner(connection: Connection): Promise<{ own: ConversationItem[]; others: ConversationItem[] }> {
  const [own, all] = await Promise.all([listConversations(connection, { mine: true }), listConversations(connection, { mine: false })])
  const user = own[0]?.user_id
  return { own, others: all.filter(({ user_id }) => user_id !== user) }
}

export async function findConversation(connection: Connection, name: string): Promise<ConversationItem> {
  const id = await resolveResource(connection, conversationTopic, name)
  const { messages: _, ...conversation } = (await call(connection, conversationRoutes.get, { params: { id } })).data
  return conversation
}

/** Returns the last messages, oldest first, and the number of earlier ones. */
export async function listLastMessages(
  connection: Connection,
  id: string,
  count: number,
): Promise<{ messages: Message[]; earlier: number }> {
  const messages: Message[] = []
  let total = 0
  const read = (page: number) => {
    const query = { page, limit: Math.min(PAGE_SIZE, count), order: 'desc' as const }
    return call(connection, conversationRoutes.messages, { params: { id }, query })
  }
  for await (const { data, pagination } of paginate(read)) {
    messages.push(...data)
    total = pagination.total
    if (messages.length >= count) break
  }
  return { messages: messages.slice(0, count).reverse(), earlier: Math.max(0, total - count) }
}
