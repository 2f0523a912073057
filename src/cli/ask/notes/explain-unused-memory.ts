/** Says why an agent does not use its memories. */
import { call } from '../../../client/call.ts'
import type { Connection } from '../../../client/request.ts'
import { type Agent, agentRoutes } from '../../../contract/families/agents.ts'
import { quoteShellWord } from '../../terminal/shell-quote.ts'
import type { Row } from '../../terminal/table.ts'
import { sanitizeLine } from '../../terminal/text.ts'
import { resolveAgentModel } from '../resolve-model.ts'

/** For changes of agents that turn memory on or choose a model. */
export const describeMemory = (connection: Connection, agent: Row, given: Row): Promise<string | undefined> =>
  'memory' in given || 'model_id' in given ? explainUnusedMemory(connection, agent as unknown as Agent) : Promise.resolve(undefined)

/** Returns undefined if the agent uses its memories. */
async function explainUnusedMemory(
  connection: Connection,
  { name, model_id, memory }: Pick<Agent, 'name' | 'model_id' | 'memory'>,
): Promise<string | undefined> {
  if (!memory) return undefined
  const model = await resolveAgentModel(connection, { model_id })
  if (!model?.onlyQuotes) return undefined
  const agent = sanitizeLine(name)
  return (
    `${agent} does not use its memory, because its model ${sanitizeLine(model.name)} only quotes documents. ` +
    `To use another model: cadre agents update ${quoteShellWord(agent)} --model NAME`
  )
}

/** After a fact was stored. */
export async function explainUnusedFact(connection: Connection, agentId: string): Promise<string | undefined> {
  const { data: agent } = await call(connection, agentRoutes.get, { params: { id: agentId } })
  if (agent.memory) return explainUnusedMemory(connection, agent)
  const name = sanitizeLine(agent.name)
  return `${name} does not use its memory, because it is turned off. To turn it on: cadre agents update ${quoteShellWord(name)} --memory`
}
