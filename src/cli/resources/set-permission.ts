/** Sets whether calls of a tool require confirmation, for one agent or for all. */
import { string } from '@oclif/core/flags'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { agentRoutes } from '../../contract/families/agents.ts'
import { resolveResource } from './resolve-references.ts'
import { findTopic } from './topic.ts'
import { agentTopic } from './topics/agents.ts'
import { toolTopic } from './topics/tools.ts'

export const agentFlag = string({ description: 'ID or name of the agent. Default: all agents.', helpValue: '<name>' })

/** Tool and agent are names or IDs. */
export async function setPermission(connection: Connection, tool: string, agent: string | undefined, isAllowed: boolean): Promise<void> {
  const toolId = await resolveResource(connection, toolTopic, tool)
  if (agent === undefined) {
    await call(connection, findTopic(toolTopic, toolId).routes.update, {
      params: { id: toolId },
      body: { requires_confirmation: !isAllowed },
    })
    return
  }
  const params = { id: await resolveResource(connection, agentTopic, agent) }
  const { allowed_tools } = (await call(connection, agentRoutes.get, { params })).data
  if (allowed_tools.includes(toolId) === isAllowed) return
  const changed = isAllowed ? [...allowed_tools, toolId] : allowed_tools.filter((id) => id !== toolId)
  await call(connection, agentRoutes.update, { params, body: { allowed_tools: changed } })
}
