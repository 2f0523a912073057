/** Every route of the service, and every family of resources. */
import { agentRoutes, agents } from './agents.ts'
import { analyticsRoutes } from './analytics.ts'
import { apiToolRoutes, apiTools } from './api-tools.ts'
import { asCodeRoutes } from './as-code.ts'
import { conversationRoutes, conversations } from './conversations.ts'
import type { Family } from './crud.ts'
import { documentRoutes } from './documents.ts'
import { runRoutes } from './evaluation-runs.ts'
import { evaluationRoutes, evaluations } from './evaluations.ts'
import { knowledgeSourceRoutes, knowledgeSources } from './knowledge-sources.ts'
import { modelRoutes, models } from './models.ts'
import { promptTemplateRoutes, promptTemplates } from './prompt-templates.ts'
import { ragToolRoutes, ragTools } from './rag-tools.ts'
import { recordingRoutes } from './recordings.ts'
import { retrievalToolRoutes, retrievalTools } from './retrieval-tools.ts'
import type { Route } from './route.ts'
import { systemRoutes } from './system.ts'
import { tokenRoutes, tokens } from './tokens.ts'
import { usageRoutes, usageThresholdRoutes, usageThresholds } from './usage.ts'
import { webhookRoutes, webhooks } from './webhooks.ts'

export const ALL_ROUTES: readonly Route[] = [
  systemRoutes,
  agentRoutes,
  promptTemplateRoutes,
  knowledgeSourceRoutes,
  documentRoutes,
  ragToolRoutes,
  retrievalToolRoutes,
  conversationRoutes,
  modelRoutes,
  recordingRoutes,
  evaluationRoutes,
  runRoutes,
  usageRoutes,
  usageThresholdRoutes,
  analyticsRoutes,
  apiToolRoutes,
  webhookRoutes,
  tokenRoutes,
  asCodeRoutes,
].flatMap((routes) => Object.values(routes) as Route[])

export const FAMILIES: readonly Family[] = [
  agents,
  promptTemplates,
  knowledgeSources,
  ragTools,
  retrievalTools,
  conversations,
  models,
  evaluations,
  usageThresholds,
  apiTools,
  webhooks,
  tokens,
]
