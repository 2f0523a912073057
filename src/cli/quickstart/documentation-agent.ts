/** The agents of quickstart, and Cadre's documentation as a knowledge source. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { type Agent, agentRoutes } from '../../contract/families/agents.ts'
import { listFiles } from '../input/local-files.ts'
import type { PlannedSource } from '../knowledge/plan-sources.ts'

const SOURCE_NAME = 'Cadre documentation'
/** What users read. The decision records and the pages for contributors are twice as long. */
const INCLUDE = ['README.md', 'docs/concepts.md', 'docs/errors.md', 'docs/roles.md', 'docs/guides/*.md']
/** A name without a folder is included at every level. */
const EXCLUDE = ['*/**/README.md']

export const DOCUMENTATION_TOOL = {
  name: 'cadre-docs',
  description: 'Answers questions about Cadre: its commands, its API and its concepts.',
}

/** Fields of an agent that answers from one source. */
interface AgentTemplate {
  name: string
  description: string
  system_prompt: string
}

export const DOCUMENTATION_AGENT: AgentTemplate = {
  name: 'Cadre guide',
  description: 'Answers questions about Cadre from its documentation.',
  system_prompt: 'You explain Cadre to its users. Answer from the documentation, cite it, and say so if it does not contain the answer.',
}

export const createAgentTemplate = (name: string): AgentTemplate => ({
  name,
  description: `Answers questions from ${name}.`,
  system_prompt: `You answer questions from the documents in ${name}. Cite them, and say so if they do not contain the answer.`,
})

/** The source is reused if the installation moves. */
export async function createDocumentationSource(root: string, send: boolean): Promise<PlannedSource> {
  const source = { name: SOURCE_NAME, location: root, canMove: true }
  if (send) return { ...source, type: 'file', configuration: {}, files: await listFiles(root, { include: INCLUDE, exclude: EXCLUDE }) }
  return { ...source, type: 'folder', configuration: { path: root, include: INCLUDE, exclude: EXCLUDE, gitignore: false }, files: [] }
}

/** Finds or creates the agent, and adds the tool if it is missing. */
export async function ensureAgent(connection: Connection, idea: AgentTemplate, tool: string): Promise<{ agent: Agent; made: boolean }> {
  const { data } = await call(connection, agentRoutes.list, { query: { name: idea.name, limit: 10 } as object })
  const own = data.find(({ tools }) => tools.includes(tool)) ?? data[0]
  if (!own) return { agent: (await call(connection, agentRoutes.create, { body: { ...idea, tools: [tool] } })).data, made: true }
  const params = { id: own.id }
  if (own.tools.includes(tool)) return { agent: (await call(connection, agentRoutes.get, { params })).data, made: false }
  return { agent: (await call(connection, agentRoutes.update, { params, body: { tools: [...own.tools, tool] } })).data, made: false }
}
