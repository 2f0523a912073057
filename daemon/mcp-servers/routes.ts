import { mcpServerRoutes } from '../../src/contract/families/mcp/mcp-servers.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { McpServersService } from './service.ts'

export const bindMcpServerRoutes = (servers: McpServersService): Binding[] => [
  ...bindCrud(mcpServerRoutes, servers),
  bind(mcpServerRoutes.authorize, ({ params, body, change }) => servers.authorize(change.caller, params.id, body.redirect_uri)),
  bind(mcpServerRoutes.token, ({ params, body, change }) => servers.finishAuthorization(change.caller, params.id, body)),
]
