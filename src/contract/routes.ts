/** All routes and resource families, grouped by OpenAPI tag. */
import type { Family } from './crud.ts'
import { agentRoutes, agents } from './families/agents.ts'
import { analyticsRoutes } from './families/analytics.ts'
import { apiToolRoutes, apiTools } from './families/api-tools.ts'
import { asCodeRoutes } from './families/as-code.ts'
import { backupRoutes } from './families/backups.ts'
import { conversationRoutes, conversations } from './families/conversations.ts'
import { documentRoutes } from './families/documents.ts'
import { runRoutes } from './families/evaluation-runs.ts'
import { evaluationRoutes, evaluations } from './families/evaluations.ts'
import { knowledgeSourceRoutes, knowledgeSources } from './families/knowledge-sources.ts'
import { mcpServerRoutes, mcpServers } from './families/mcp/mcp-servers.ts'
import { mcpToolRoutes, mcpTools } from './families/mcp/mcp-tools.ts'
import { memories, memoryRoutes } from './families/memory/memories.ts'
import { modelRoutes, models } from './families/models.ts'
import { promptTemplateRoutes, promptTemplates } from './families/prompt-templates.ts'
import { ragToolRoutes, ragTools } from './families/rag-tools.ts'
import { recognitionLanguageRoutes } from './families/recognition/recognition-languages.ts'
import { recordingRoutes } from './families/recordings.ts'
import { retrievalToolRoutes, retrievalTools } from './families/retrieval-tools.ts'
import { systemRoutes } from './families/system.ts'
import { tableRoutes } from './families/tables.ts'
import { tokenRoutes, tokens } from './families/tokens.ts'
import { usageRoutes, usageThresholdRoutes, usageThresholds } from './families/usage.ts'
import { webhookRoutes, webhooks } from './families/webhooks.ts'
import { openaiRoutes } from './openai/routes.ts'
import type { Route } from './route.ts'

interface RouteGroup {
  /** The OpenAPI tag, which is the `family` of the routes. */
  tag: string
  description: string
  /** Absent if the routes do not belong to stored resources. */
  family?: Family
  routes: object[]
}

const createGroup = (family: Family, description: string, ...routes: object[]): RouteGroup => ({
  tag: family.name,
  description,
  family,
  routes,
})

/** The one list of the API: routes, families and OpenAPI tags are derived from it. */
export const ROUTE_GROUPS: readonly RouteGroup[] = [
  { tag: 'system', description: 'Health, status, settings and backups of the daemon', routes: [systemRoutes, backupRoutes] },
  createGroup(agents, 'Agents: a model, instructions and tools', agentRoutes),
  createGroup(promptTemplates, 'Texts with {{variables}}', promptTemplateRoutes),
  createGroup(
    knowledgeSources,
    'Knowledge sources and their documents',
    knowledgeSourceRoutes,
    documentRoutes,
    tableRoutes,
    recognitionLanguageRoutes,
  ),
  createGroup(ragTools, 'Tools that answer questions from a knowledge source', ragToolRoutes),
  createGroup(retrievalTools, 'Tools that search knowledge sources', retrievalToolRoutes),
  createGroup(conversations, 'Conversations with agents and their messages', conversationRoutes),
  createGroup(memories, 'Facts that agents keep about users', memoryRoutes),
  createGroup(models, 'Language and embedding models', modelRoutes, recordingRoutes),
  createGroup(evaluations, 'Test cases, runs and results', evaluationRoutes, runRoutes),
  { tag: 'usage', description: 'Token usage and cost', routes: [usageRoutes] },
  createGroup(usageThresholds, 'Limits for usage', usageThresholdRoutes),
  { tag: 'analytics', description: 'Conversation statistics', routes: [analyticsRoutes] },
  createGroup(apiTools, 'Tools that call HTTP APIs', apiToolRoutes),
  createGroup(mcpServers, 'Servers that offer tools through MCP', mcpServerRoutes),
  createGroup(mcpTools, 'Approved tools of MCP servers', mcpToolRoutes),
  createGroup(webhooks, 'URLs that receive events', webhookRoutes),
  createGroup(tokens, 'Access tokens', tokenRoutes),
  { tag: 'openai', description: 'The OpenAI-compatible API', routes: [openaiRoutes] },
  { tag: 'as-code', description: 'Export and apply all resources', routes: [asCodeRoutes] },
]

export const ALL_ROUTES: readonly Route[] = ROUTE_GROUPS.flatMap(({ routes }) => routes.flatMap((group) => Object.values(group) as Route[]))

export const FAMILIES: readonly Family[] = ROUTE_GROUPS.flatMap(({ family }) => family ?? [])
