/** Sets whether calls of a tool require confirmation, for one agent or for all. */
import { string } from '@oclif/core/flags'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { agentRoutes } from '../../contract/families/agents.ts'
import type { Row } from '../terminal/table.ts'
import { resolveResource } from './resolve-references.ts'
import { findTopic } from './topic.ts'
import { agentTopic } from './topics/agents.ts'
import { toolTopic } from './topics/tools.ts'

export const agentFlag = string({ description: 'ID or name of the agent. Default: all agents.', helpValue: '<name>' })

/** Tool and agent are names or IDs. Returns the agent or, without one, the tool. */
export async function setPermission(connection: Connection, tool: string, agent: string | undefined, isAllowed: boolean): Promise<Row> {
  const toolId = await resolveResource(connection, toolTopic, tool)
  if (agent === undefined) {
    const { update } = findTopic(toolTopic, toolId).routes
    return (await call(connection, update, { params: { id: toolId }, body: { requires_confirmation: !isAllowed } })).data as Row
  }
  const params = { id: await resolveResource(connection, agentTopic, agent) }
  const { data } = await call(connection, agentRoutes.get, { params })
  if (data.allowed_tools.includes(toolId) === isAllowed) return data as Row
  const allowed_tools = isAllowed ? [...data.allowed_tools, toolId] : data.allowed_tools.filter((id) => id !== toolId)
  return (await call(connection, agentRoutes.update, { params, body: { allowed_tools } })).data as Row
}
