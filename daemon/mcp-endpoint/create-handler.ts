/** Creates the handler of MCP requests. Imported for the first request, because loading the SDK takes a while. */
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import type { Caller } from '../core/caller.ts'
import { createMcpServer, type McpServerParts } from './create-server.ts'

/** Each request gets its own server; nothing is kept between requests. */
export function createHandler(parts: McpServerParts): McpHttpHandler {
  return createMcpHandler(({ authInfo }) => createMcpServer(parts, authInfo?.extra?.caller as Caller), {
    // The HTTP server keeps streams alive.
    keepAliveMs: 0,
    onerror: (error) => parts.logger.debug({ err: error }, 'an MCP request was rejected'),
  })
}
