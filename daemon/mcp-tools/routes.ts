import { mcpToolRoutes } from '../../src/contract/families/mcp/mcp-tools.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { McpToolsService } from './service.ts'

export const bindMcpToolRoutes = (tools: McpToolsService): Binding[] => [
  ...bindCrud(mcpToolRoutes, tools),
  bind(mcpToolRoutes.discover, ({ params, change }) => tools.discover(change.caller, params.id)),
  bind(mcpToolRoutes.test, ({ params, body, change }) => tools.test(change.caller, params.id, body.arguments ?? {})),
]
