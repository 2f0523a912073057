/** Which arguments and flags are names of resources, and where the names are listed. */

/**
 * The prefix of IDs, the path of the list in the REST API, the field that describes a resource, and the one that commands accept instead
 * of the ID.
 */
const defineKind = (prefix: string, path: string, detail = 'description', label = 'name') => ({ prefix, path, detail, label })

export const NAME_KINDS = {
  agent: defineKind('agent', '/agents'),
  model: defineKind('model', '/models', 'provider'),
  prompt: defineKind('tmpl', '/prompt-templates'),
  source: defineKind('ks', '/knowledge-sources', 'type'),
  rag: defineKind('rag', '/rag-tools'),
  retrieval: defineKind('ret', '/retrieval-tools'),
  api: defineKind('api', '/api-tools'),
  mcpServer: defineKind('mcp', '/mcp-servers'),
  mcpTool: defineKind('mcpt', '/mcp-tools'),
  conversation: defineKind('conv', '/conversations', 'updated_at', 'title'),
  evaluation: defineKind('eval', '/evaluations', 'type'),
  threshold: defineKind('thr', '/usage/thresholds', 'metric'),
  webhook: defineKind('hook', '/webhooks', 'description', 'url'),
  token: defineKind('tok', '/tokens', 'role'),
} as const
export type ResourceKind = keyof typeof NAME_KINDS
/** Profiles are read from the home, and tables are those of the source before them; all others are lists of the service. */
export type Kind = ResourceKind | 'profile' | 'table'

const TOOLS: readonly Kind[] = ['rag', 'retrieval', 'api', 'mcpTool']

/** The resources of a topic, for arguments such as `id`. A topic within another one comes first. */
const KINDS_BY_TOPIC: Record<string, readonly Kind[]> = {
  agents: ['agent'],
  models: ['model'],
  prompts: ['prompt'],
  knowledge: ['source'],
  rag: ['rag'],
  retrieval: ['retrieval'],
  'tools servers': ['mcpServer'],
  tools: ['api', 'mcpTool'],
  conversations: ['conversation'],
  evaluations: ['evaluation'],
  'usage thresholds': ['threshold'],
  webhooks: ['webhook'],
  tokens: ['token'],
}
const TOPIC_ARGUMENTS = new Set(['id', 'tool'])

/** By the name of an argument or a flag. */
const KINDS_BY_NAME: Record<string, readonly Kind[]> = {
  agent: ['agent'],
  model: ['model'],
  source: ['source'],
  table: ['table'],
  'embedding-model': ['model'],
  tool: TOOLS,
  'add-tool': TOOLS,
  'remove-tool': TOOLS,
  'allowed-tools': TOOLS,
  conversation: ['conversation'],
  'knowledge-source': ['source'],
  'prompt-template': ['prompt'],
  prompt: ['prompt'],
  profile: ['profile'],
  rag: ['rag'],
  evaluation: ['evaluation'],
  target: ['agent', 'rag', 'prompt', 'model'],
  entity: ['agent', 'model', 'rag', 'prompt', 'evaluation'],
}

/** Arguments and flags whose names do not tell their kind, by command. */
const EXCEPTIONS: Record<string, readonly Kind[]> = {
  'ask question': ['agent'],
  'models default name': ['model'],
  'conversations promote --to': ['evaluation'],
  'evaluations report run': ['evaluation'],
  'knowledge describe path': ['source'],
  'profiles use name': ['profile'],
  'profiles delete name': ['profile'],
  'tools refresh id': ['mcpServer'],
  'tools login id': ['mcpServer'],
  // Names that the server gives its tools.
  'tools refresh --tool': [],
  'tools add-mcp --tool': [],
  // Whether to create a tool.
  'knowledge add --tool': [],
  // A file or URL.
  'knowledge add target': [],
}

/** @param path words of the command, separated by spaces */
export function listArgumentKinds(path: string, argument: string): readonly Kind[] {
  const exception = EXCEPTIONS[`${path} ${argument}`]
  if (exception) return exception
  if (!TOPIC_ARGUMENTS.has(argument)) return KINDS_BY_NAME[argument] ?? []
  const topic = Object.keys(KINDS_BY_TOPIC).find((name) => path.startsWith(`${name} `))
  return topic === undefined ? [] : (KINDS_BY_TOPIC[topic] ?? [])
}

/** @param flag name without dashes */
export const listFlagKinds = (path: string, flag: string): readonly Kind[] => EXCEPTIONS[`${path} --${flag}`] ?? KINDS_BY_NAME[flag] ?? []
