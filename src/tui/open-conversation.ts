/** Opens the first conversation of a chat. */
import { getLastConversation } from '../cli/ask/get-last-conversation.ts'
import { AmbiguousAgentError, resolveDefaultAgent } from '../cli/ask/resolve-default-agent.ts'
import { call } from '../client/call.ts'
import { systemRoutes } from '../contract/families/system.ts'
import { openAgentPicker } from './commands/run-command.ts'
import { findAgent, findConversation, findModel, listConversations } from './session/api.ts'
import type { ChatSession } from './session/chat-session.ts'

export interface ConversationOptions {
  agent?: string | undefined
  conversation?: string | undefined
  /** The terminal already shows its messages. */
  isAlreadyPrinted?: boolean
  /** Continue the caller's last conversation. */
  continueLast?: boolean
  model?: string | undefined
  /** Agent of `cadre config set agent`. */
  defaultAgent?: string | undefined
}

export async function openConversation(
  session: ChatSession,
  { agent, conversation, isAlreadyPrinted, continueLast, model, defaultAgent }: ConversationOptions,
): Promise<void> {
  const connection = await session.client.getConnection()
  session.store.update({ currency: (await call(connection, systemRoutes.getSettings, {})).data.currency })
  if (model !== undefined) session.setModel(await findModel(connection, model))
  if (conversation !== undefined) {
    await session.resume(await findConversation(connection, conversation))
    if (isAlreadyPrinted) session.store.update({ firstEntry: session.store.state.transcript.entries.length })
    return
  }
  const namedAgent = agent === undefined ? undefined : await findAgent(connection, agent)
  if (continueLast) return session.resume(await getLastConversation(connection, namedAgent?.id))
  if (namedAgent) return session.startConversation(namedAgent)
  await chooseAgent(session, defaultAgent)
}

/** Uses the default agent. If there are several, opens a picker that preselects the agent of the last conversation. */
async function chooseAgent(session: ChatSession, defaultAgent: string | undefined): Promise<void> {
  const connection = await session.client.getConnection()
  try {
    await session.startConversation(
      await findAgent(connection, await resolveDefaultAgent(connection, { configuredAgent: defaultAgent, command: 'cadre chat' })),
    )
  } catch (error) {
    if (session.isPlain || !(error instanceof AmbiguousAgentError)) throw error
    const conversations = await listConversations(connection, { mine: true })
    await openAgentPicker(session, { preselected: conversations.find(({ agent_id }) => agent_id !== null)?.agent_id ?? undefined })
  }
}
