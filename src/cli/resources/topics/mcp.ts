/** CLI topics of MCP servers and their tools. */
import { mcpServerRoutes, mcpServers } from '../../../contract/families/mcp/mcp-servers.ts'
import { mcpToolRoutes, mcpTools } from '../../../contract/families/mcp/mcp-tools.ts'
import type { Topic } from '../topic.ts'

export const mcpServerTopic: Topic = {
  command: 'tools servers',
  family: mcpServers,
  routes: mcpServerRoutes,
  columns: ['id', 'name', 'command', 'args', 'url', 'description'],
  label: 'name',
  createExample: 'cadre tools add-mcp files -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
  references: {},
}

/** Shown, updated and deleted with the commands for API tools. */
export const mcpToolTopic: Topic = {
  command: 'tools',
  family: mcpTools,
  routes: mcpToolRoutes,
  columns: ['id', 'name', 'mcp_server_id', 'requires_confirmation', 'description'],
  label: 'name',
  references: { mcp_server_id: ['mcp_server'] },
}
