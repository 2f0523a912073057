/** Creates the agents family and the families it uses: prompt templates, RAG, retrieval, API and MCP tools. */

import { bindAgentRoutes } from './agents/routes.ts'
import { AgentsService } from './agents/service.ts'
import { listAgentsWithout } from './agents/store.ts'
import { bindApiToolRoutes } from './api-tools/routes.ts'
import { type ApiToolsDependencies, ApiToolsService } from './api-tools/service.ts'
import { bindMcpServerRoutes } from './mcp-servers/routes.ts'
import { type McpServersDependencies, McpServersService } from './mcp-servers/service.ts'
import { bindMcpToolRoutes } from './mcp-tools/routes.ts'
import { McpToolsService } from './mcp-tools/service.ts'
import { bindPromptTemplateRoutes } from './prompt-templates/routes.ts'
import { PromptTemplatesService } from './prompt-templates/service.ts'
import { bindRagToolRoutes } from './rag-tools/routes.ts'
import { type RagToolsDependencies, RagToolsService } from './rag-tools/service.ts'
import { bindRetrievalToolRoutes } from './retrieval-tools/routes.ts'
import { RetrievalToolsService } from './retrieval-tools/service.ts'

interface AgentsFamilyDependencies extends RagToolsDependencies, ApiToolsDependencies, Omit<McpServersDependencies, 'getTools'> {}

export function createAgents(dependencies: AgentsFamilyDependencies) {
  const { database, models } = dependencies
  const templates = new PromptTemplatesService(database, listAgentsWithout)
  const ragTools = new RagToolsService(dependencies)
  const retrievalTools = new RetrievalToolsService(dependencies)
  const apiTools = new ApiToolsService(dependencies)
  const mcpServers: McpServersService = new McpServersService({ ...dependencies, getTools: () => mcpTools })
  const mcpTools: McpToolsService = new McpToolsService({ ...dependencies, servers: mcpServers })
  const agents = new AgentsService(database, models, templates, [ragTools, retrievalTools, apiTools, mcpTools])
  return {
    services: { agents, templates, ragTools, retrievalTools, apiTools, mcpServers, mcpTools },
    /** In the order in which they are applied from files. */
    tools: [ragTools, retrievalTools, apiTools, mcpServers, mcpTools],
    bindings: [
      ...bindAgentRoutes(agents),
      ...bindPromptTemplateRoutes(templates),
      ...bindRagToolRoutes(ragTools),
      ...bindRetrievalToolRoutes(retrievalTools),
      ...bindApiToolRoutes(apiTools),
      ...bindMcpServerRoutes(mcpServers),
      ...bindMcpToolRoutes(mcpTools),
    ],
  }
}
