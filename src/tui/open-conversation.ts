/** How a chat begins: with whom, in which conversation, with which model. */

import { getLastConversation } from '../cli/ask/get-last-conversation.ts'
import { AmbiguousAgentError, resolveDefaultAgent } from '../cli/ask/resolve-default-agent.ts'
import { offerAgents } from './commands/run-command.ts'
import { findAgent, findConversation, findModel, listConversations } from './session/api.ts'
import type { Room } from './session/chat-session.ts'

export interface Opening {
  agent?: string | undefined
  conversation?: string | undefined
  /** What was said in it stands on the terminal already. */
  told?: boolean
  /** Go on with the caller's last conversation. */
  goOn?: boolean
  model?: string | undefined
  /** The agent that `cadre config set agent` names. */
  preferred?: string | undefined
}

export async function open(room: Room, { agent, conversation, told, goOn, model, preferred }: Opening): Promise<void> {
  const connection = await room.link.now()
  if (model !== undefined) room.use(await findModel(connection, model))
  if (conversation !== undefined) {
    await room.resume(await findConversation(connection, conversation))
    if (told) room.desk.redraw({ cleared: true })
    return
  }
  const named = agent === undefined ? undefined : await findAgent(connection, agent)
  if (goOn) return room.resume(await getLastConversation(connection, named?.id))
  if (named) return room.meet(named)
  await meetSomebody(room, preferred)
}

/** Whoever is meant where none is named; among several somebody chooses, where there is a screen to choose on: most likely whom they talked with last. */
async function meetSomebody(room: Room, preferred: string | undefined): Promise<void> {
  const connection = await room.link.now()
  try {
    await room.meet(
      await findAgent(connection, await resolveDefaultAgent(connection, { configuredAgent: preferred, command: 'cadre chat' })),
    )
  } catch (error) {
    if (room.plain || !(error instanceof AmbiguousAgentError)) throw error
    const talks = await listConversations(connection, { mine: true })
    await offerAgents(room, { likeliest: talks.find(({ agent_id }) => agent_id !== null)?.agent_id ?? undefined })
  }
}
