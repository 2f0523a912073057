/** Kinds of resources that others refer to, and their ID prefixes. */
import type { Route } from '../../contract/route.ts'

const defineKind = (prefix: string, command: string, noun: string, list: () => Promise<Route>) => ({ prefix, command, noun, list })

/** Keyed by the contract's name of the kind. Contracts are imported lazily, when a name is looked up. */
export const KINDS = {
  agent: defineKind('agent', 'agents', 'agent', async () => (await import('../../contract/families/agents.ts')).agentRoutes.list),
  model: defineKind('model', 'models', 'model', async () => (await import('../../contract/families/models.ts')).modelRoutes.list),
  prompt_template: defineKind(
    'tmpl',
    'prompts',
    'prompt template',
    async () => (await import('../../contract/families/prompt-templates.ts')).promptTemplateRoutes.list,
  ),
  knowledge_source: defineKind(
    'ks',
    'knowledge',
    'knowledge source',
    async () => (await import('../../contract/families/knowledge-sources.ts')).knowledgeSourceRoutes.list,
  ),
  rag_tool: defineKind('rag', 'rag', 'RAG tool', async () => (await import('../../contract/families/rag-tools.ts')).ragToolRoutes.list),
  retrieval_tool: defineKind(
    'ret',
    'retrieval',
    'retrieval tool',
    async () => (await import('../../contract/families/retrieval-tools.ts')).retrievalToolRoutes.list,
  ),
  api_tool: defineKind('api', 'tools', 'API tool', async () => (await import('../../contract/families/api-tools.ts')).apiToolRoutes.list),
  mcp_server: defineKind(
    'mcp',
    'tools servers',
    'MCP server',
    async () => (await import('../../contract/families/mcp/mcp-servers.ts')).mcpServerRoutes.list,
  ),
  mcp_tool: defineKind(
    'mcpt',
    'tools',
    'MCP tool',
    async () => (await import('../../contract/families/mcp/mcp-tools.ts')).mcpToolRoutes.list,
  ),
  evaluation: defineKind(
    'eval',
    'evaluations',
    'evaluation',
    async () => (await import('../../contract/families/evaluations.ts')).evaluationRoutes.list,
  ),
}
export type Kind = keyof typeof KINDS

export const IDENTIFIER = /^[a-z]+_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Returns undefined for other IDs. */
export function detectKind(id: string): Kind | undefined {
  if (!IDENTIFIER.test(id)) return undefined
  return (Object.keys(KINDS) as Kind[]).find((kind) => id.startsWith(`${KINDS[kind].prefix}_`))
}
