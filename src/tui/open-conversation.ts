/** How a chat begins: with whom, in which conversation, with which model. */

import { getLastConversation } from '../cli/ask/get-last-conversation.ts'
import { AmbiguousAgentError, resolveDefaultAgent } from '../cli/ask/resolve-default-agent.ts'
import { openAgentPicker } from './commands/run-command.ts'
import { findAgent, findConversation, findModel, listConversations } from './session/api.ts'
import type { ChatSession } from './session/chat-session.ts'

export interface ConversationOptions {
  agent?: string | undefined
  conversation?: string | undefined
  /** What was said in it stands on the terminal already. */
  isAlreadyPrinted?: boolean
  /** Go on with the caller's last conversation. */
  continueLast?: boolean
  model?: string | undefined
  /** The agent that `cadre config set agent` names. */
  defaultAgent?: string | undefined
}

export async function openConversation(
  room: ChatSession,
  { agent, conversation, isAlreadyPrinted: told, continueLast: goOn, model, defaultAgent: preferred }: ConversationOptions,
): Promise<void> {
  const connection = await room.client.getConnection()
  if (model !== undefined) room.setModel(await findModel(connection, model))
  if (conversation !== undefined) {
    await room.resume(await findConversation(connection, conversation))
    if (told) room.store.redraw({ cleared: true })
    return
  }
  const named = agent === undefined ? undefined : await findAgent(connection, agent)
  if (goOn) return room.resume(await getLastConversation(connection, named?.id))
  if (named) return room.startConversation(named)
  await chooseAgent(room, preferred)
}

/** Whoever is meant where none is named; among several somebody chooses, where there is a screen to choose on: most likely whom they talked with last. */
async function chooseAgent(room: ChatSession, preferred: string | undefined): Promise<void> {
  const connection = await room.client.getConnection()
  try {
    await room.startConversation(
      await findAgent(connection, await resolveDefaultAgent(connection, { configuredAgent: preferred, command: 'cadre chat' })),
    )
  } catch (error) {
    if (room.isPlain || !(error instanceof AmbiguousAgentError)) throw error
    const talks = await listConversations(connection, { mine: true })
    await openAgentPicker(room, { likeliest: talks.find(({ agent_id }) => agent_id !== null)?.agent_id ?? undefined })
  }
}
