/** Creates the agents family and the families it uses: prompt templates, RAG tools, retrieval tools and API tools. */

import { bindAgentRoutes } from './agents/routes.ts'
import { AgentsService } from './agents/service.ts'
import { listAgentsWithout } from './agents/store.ts'
import { bindApiToolRoutes } from './api-tools/routes.ts'
import { type ApiToolsDependencies, ApiToolsService } from './api-tools/service.ts'
import { bindPromptTemplateRoutes } from './prompt-templates/routes.ts'
import { PromptTemplatesService } from './prompt-templates/service.ts'
import { bindRagToolRoutes } from './rag-tools/routes.ts'
import { type RagToolsDependencies, RagToolsService } from './rag-tools/service.ts'
import { bindRetrievalToolRoutes } from './retrieval-tools/routes.ts'
import { RetrievalToolsService } from './retrieval-tools/service.ts'

export interface AgentsFamilyDependencies extends RagToolsDependencies, ApiToolsDependencies {}

export function createAgents(dependencies: AgentsFamilyDependencies) {
  const { database, models } = dependencies
  const templates = new PromptTemplatesService(database, listAgentsWithout)
  const ragTools = new RagToolsService(dependencies)
  const retrievalTools = new RetrievalToolsService(dependencies)
  const apiTools = new ApiToolsService(dependencies)
  const agents = new AgentsService(database, models, templates, [ragTools, retrievalTools, apiTools])
  return {
    services: { agents, templates, ragTools, retrievalTools, apiTools },
    bindings: [
      ...bindAgentRoutes(agents),
      ...bindPromptTemplateRoutes(templates),
      ...bindRagToolRoutes(ragTools),
      ...bindRetrievalToolRoutes(retrievalTools),
      ...bindApiToolRoutes(apiTools),
    ],
  }
}
