/** How a chat begins: with whom, in which conversation, with which model. */
import { UsageError } from '../cli/failure.ts'
import { oneLine } from '../cli/terminal-text.ts'
import { CadreError } from '../contract/errors.ts'
import { run } from './actions.ts'
import type { Room } from './room.ts'
import { findAgent, findConversation, findModel, listAgents, listConversations } from './service.ts'

export interface Opening {
  agent?: string | undefined
  conversation?: string | undefined
  /** What was said in it stands on the terminal already. */
  told?: boolean
  /** Go on with the caller's newest conversation. */
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
  if (goOn) {
    const [newest] = await listConversations(connection, { agent: named?.id, mine: true, limit: 1 })
    if (!newest) throw new CadreError('NOT_FOUND', 'There is no conversation to go on with.', { hint: 'cadre chat begins one.' })
    return room.resume(newest)
  }
  if (named) return room.meet(named)
  if (preferred !== undefined) return room.meet(await findAgent(connection, preferred))
  await meetSomebody(room)
}

/** Whoever was talked with last; else the only one there is; else who is chosen. */
async function meetSomebody(room: Room): Promise<void> {
  const connection = await room.link.now()
  const agents = await listAgents(connection)
  const [newest] = await listConversations(connection, { mine: true, limit: 1 })
  const likely = agents.find(({ id }) => id === newest?.agent_id) ?? (agents.length === 1 ? agents[0] : undefined)
  if (likely) return room.meet(await findAgent(connection, likely.id))
  if (agents.length === 0)
    throw new CadreError('NOT_FOUND', 'There is no agent to talk with yet.', {
      hint: 'cadre quickstart makes one that knows Cadre; cadre agents create makes your own.',
    })
  if (room.plain)
    throw new UsageError('There are several agents.', `Name one: cadre chat NAME. There are ${agents.map(({ name }) => oneLine(name)).join(', ')}.`)
  await run(room, { name: 'agents', argument: '' })
}
