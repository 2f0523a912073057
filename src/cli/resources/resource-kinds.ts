/** Kinds of resources that others refer to, and their ID prefixes. */
import type { Route } from '../../contract/route.ts'

/** Keyed by the contract's name of the kind. Contracts are imported lazily, when a name is looked up. */
export const KINDS = {
  agent: {
    prefix: 'agent',
    command: 'agents',
    noun: 'agent',
    list: async (): Promise<Route> => (await import('../../contract/families/agents.ts')).agentRoutes.list,
  },
  model: {
    prefix: 'model',
    command: 'models',
    noun: 'model',
    list: async (): Promise<Route> => (await import('../../contract/families/models.ts')).modelRoutes.list,
  },
  prompt_template: {
    prefix: 'tmpl',
    command: 'prompts',
    noun: 'prompt template',
    list: async (): Promise<Route> => (await import('../../contract/families/prompt-templates.ts')).promptTemplateRoutes.list,
  },
  knowledge_source: {
    prefix: 'ks',
    command: 'knowledge',
    noun: 'knowledge source',
    list: async (): Promise<Route> => (await import('../../contract/families/knowledge-sources.ts')).knowledgeSourceRoutes.list,
  },
  rag_tool: {
    prefix: 'rag',
    command: 'rag',
    noun: 'RAG tool',
    list: async (): Promise<Route> => (await import('../../contract/families/rag-tools.ts')).ragToolRoutes.list,
  },
  retrieval_tool: {
    prefix: 'ret',
    command: 'retrieval',
    noun: 'retrieval tool',
    list: async (): Promise<Route> => (await import('../../contract/families/retrieval-tools.ts')).retrievalToolRoutes.list,
  },
  api_tool: {
    prefix: 'api',
    command: 'tools',
    noun: 'API tool',
    list: async (): Promise<Route> => (await import('../../contract/families/api-tools.ts')).apiToolRoutes.list,
  },
  evaluation: {
    prefix: 'eval',
    command: 'evaluations',
    noun: 'evaluation',
    list: async (): Promise<Route> => (await import('../../contract/families/evaluations.ts')).evaluationRoutes.list,
  },
}
export type Kind = keyof typeof KINDS

export const IDENTIFIER = /^[a-z]+_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Returns undefined for other IDs. */
export function findKind(id: string): Kind | undefined {
  if (!IDENTIFIER.test(id)) return undefined
  return (Object.keys(KINDS) as Kind[]).find((kind) => id.startsWith(`${KINDS[kind].prefix}_`))
}
