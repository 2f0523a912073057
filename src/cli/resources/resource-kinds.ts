/** Kinds of resources that others refer to, and their ID prefixes. */
import type { Route } from '../../contract/route.ts'

const defineKind = (prefix: string, command: string, noun: string) => ({ prefix, command, noun })

/** Keyed by the contract's name of the kind. */
export const KINDS = {
  agent: defineKind('agent', 'agents', 'agent'),
  model: defineKind('model', 'models', 'model'),
  prompt_template: defineKind('tmpl', 'prompts', 'prompt template'),
  knowledge_source: defineKind('ks', 'knowledge', 'knowledge source'),
  rag_tool: defineKind('rag', 'rag', 'RAG tool'),
  retrieval_tool: defineKind('ret', 'retrieval', 'retrieval tool'),
  api_tool: defineKind('api', 'tools', 'API tool'),
  mcp_server: defineKind('mcp', 'tools servers', 'MCP server'),
  mcp_tool: defineKind('mcpt', 'tools', 'MCP tool'),
  evaluation: defineKind('eval', 'evaluations', 'evaluation'),
}
export type Kind = keyof typeof KINDS

/** Loads the route that lists resources of a kind. Contracts are imported lazily, when a name is looked up. */
export const LOAD_LIST_ROUTE: Readonly<Record<Kind, () => Promise<Route>>> = {
  agent: async () => (await import('../../contract/families/agents.ts')).agentRoutes.list,
  model: async () => (await import('../../contract/families/models.ts')).modelRoutes.list,
  prompt_template: async () => (await import('../../contract/families/prompt-templates.ts')).promptTemplateRoutes.list,
  knowledge_source: async () => (await import('../../contract/families/knowledge-sources.ts')).knowledgeSourceRoutes.list,
  rag_tool: async () => (await import('../../contract/families/rag-tools.ts')).ragToolRoutes.list,
  retrieval_tool: async () => (await import('../../contract/families/retrieval-tools.ts')).retrievalToolRoutes.list,
  api_tool: async () => (await import('../../contract/families/api-tools.ts')).apiToolRoutes.list,
  mcp_server: async () => (await import('../../contract/families/mcp/mcp-servers.ts')).mcpServerRoutes.list,
  mcp_tool: async () => (await import('../../contract/families/mcp/mcp-tools.ts')).mcpToolRoutes.list,
  evaluation: async () => (await import('../../contract/families/evaluations.ts')).evaluationRoutes.list,
}

export const IDENTIFIER = /^[a-z]+_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Returns undefined for other IDs. */
export function detectKind(id: string): Kind | undefined {
  if (!IDENTIFIER.test(id)) return undefined
  return (Object.keys(KINDS) as Kind[]).find((kind) => id.startsWith(`${KINDS[kind].prefix}_`))
}
