/** Every route of the service, and every family of resources. */

import type { Family } from './crud.ts'
import { agentRoutes, agents } from './families/agents.ts'
import { analyticsRoutes } from './families/analytics.ts'
import { apiToolRoutes, apiTools } from './families/api-tools.ts'
import { asCodeRoutes } from './families/as-code.ts'
import { conversationRoutes, conversations } from './families/conversations.ts'
import { documentRoutes } from './families/documents.ts'
import { runRoutes } from './families/evaluation-runs.ts'
import { evaluationRoutes, evaluations } from './families/evaluations.ts'
import { knowledgeSourceRoutes, knowledgeSources } from './families/knowledge-sources.ts'
import { modelRoutes, models } from './families/models.ts'
import { promptTemplateRoutes, promptTemplates } from './families/prompt-templates.ts'
import { ragToolRoutes, ragTools } from './families/rag-tools.ts'
import { recordingRoutes } from './families/recordings.ts'
import { retrievalToolRoutes, retrievalTools } from './families/retrieval-tools.ts'
import { systemRoutes } from './families/system.ts'
import { tokenRoutes, tokens } from './families/tokens.ts'
import { usageRoutes, usageThresholdRoutes, usageThresholds } from './families/usage.ts'
import { webhookRoutes, webhooks } from './families/webhooks.ts'
import type { Route } from './route.ts'

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
