/** Cadre's own documentation as a knowledge source, and agents that know one source. */
import type { Static } from 'typebox'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { type Agent, agentRoutes } from '../../contract/families/agents.ts'
import { listFiles } from '../input/local-files.ts'
import type { PlannedSource } from '../knowledge/plan-sources.ts'

const SOURCE_NAME = 'Cadre documentation'
const INCLUDE = ['README.md', 'docs/**/*.md']

export const DOCUMENTATION_TOOL = {
  name: 'cadre-docs',
  description: 'Answers questions about Cadre: its commands, its service, and why it is built as it is.',
}

export type AgentResource = Static<typeof Agent>

/** What an agent over one source should be. */
export interface AgentTemplate {
  name: string
  description: string
  system_prompt: string
}

export const DOCUMENTATION_AGENT: AgentTemplate = {
  name: 'Cadre guide',
  description: 'Answers questions about Cadre from its documentation.',
  system_prompt: 'You explain Cadre to people who use it. Answer from the documentation, cite it, and say so when it does not tell.',
}

export const createAgentTemplate = (name: string): AgentTemplate => ({
  name,
  description: `Answers questions from ${name}.`,
  system_prompt: `You answer questions from the documents in ${name}. Cite them, and say so when they do not tell.`,
})

/** The documentation of this installation; where it is installed may change, the source stays the same. */
export async function createDocumentationSource(root: string, send: boolean): Promise<PlannedSource> {
  const what = { name: SOURCE_NAME, location: root, canMove: true }
  if (send) return { ...what, type: 'file', configuration: {}, files: await listFiles(root, { include: INCLUDE }) }
  return { ...what, type: 'folder', configuration: { path: root, include: INCLUDE, gitignore: false }, files: [] }
}

/** The agent of that name, with the tool in its hands; made when there is none. */
export async function ensureAgent(
  connection: Connection,
  idea: AgentTemplate,
  tool: string,
): Promise<{ agent: AgentResource; made: boolean }> {
  const { data } = await call(connection, agentRoutes.list, { query: { name: idea.name, limit: 10 } as object })
  const own = data.find(({ tools }) => tools.includes(tool)) ?? data[0]
  if (!own) return { agent: (await call(connection, agentRoutes.create, { body: { ...idea, tools: [tool] } })).data, made: true }
  const params = { id: own.id }
  if (own.tools.includes(tool)) return { agent: (await call(connection, agentRoutes.get, { params })).data, made: false }
  return { agent: (await call(connection, agentRoutes.update, { params, body: { tools: [...own.tools, tool] } })).data, made: false }
}
