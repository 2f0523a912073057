/** Creates the MCP server and answers its requests. */
import { randomUUID } from 'node:crypto'
import type { McpHttpHandler } from '@modelcontextprotocol/server'
import type { AgentsService } from '../agents/service.ts'
import type { McpRequest } from '../core/mcp-request.ts'
import type { PromptTemplatesService } from '../prompt-templates/service.ts'
import type { Shared } from '../shared-services.ts'
import { createMcpPrompts } from './prompts.ts'
import { DocumentResources } from './resources.ts'
import { RunningRequests } from './running-requests.ts'
import { McpTools, type McpToolsDependencies } from './tools.ts'

interface McpDependencies extends McpToolsDependencies, Shared<'database' | 'logger'> {
  templates: PromptTemplatesService
  agents: AgentsService
  version: string
}

const SESSION_HEADER = 'mcp-session-id'

export function createMcp(dependencies: McpDependencies) {
  const { knowledge, documentLookup, templates, agents, database, version, logger } = dependencies
  const parts = {
    tools: new McpTools(dependencies),
    resources: new DocumentResources(knowledge, documentLookup),
    prompts: createMcpPrompts(templates, agents),
    database,
    version,
    logger,
  }
  const running = new RunningRequests()
  let handler: Promise<McpHttpHandler> | undefined
  /** Loaded for the first client: most daemons never have one. */
  const getHandler = () => (handler ??= import('./create-server.ts').then(({ createHandler }) => createHandler(parts)))
  return {
    async handle({ method, url, headers, body, caller, signal, closed }: McpRequest): Promise<Response> {
      const session = headers.get(SESSION_HEADER)
      const owner = session === null ? undefined : `${caller.tokenId} ${session}`
      const { signal: cancelled, end } = running.begin(owner, body)
      void closed.then(end)
      const request = new Request(new URL(url, 'http://localhost'), { method, headers, signal: AbortSignal.any([signal, cancelled]) })
      const { fetch } = await getHandler()
      const authInfo = { token: '', clientId: caller.tokenId, scopes: [caller.role], extra: { caller } }
      const response = await fetch(request, { authInfo, parsedBody: body })
      if (response.ok && isHandshake(body)) response.headers.set(SESSION_HEADER, randomUUID())
      return response
    },
    async close(): Promise<void> {
      running.abortAll()
      if (handler) await (await handler).close()
    },
  }
}

/** Clients before 2026-07-28 begin with a handshake. The daemon keeps no state of their sessions: it needs the ID to cancel requests. */
const isHandshake = (body: unknown): boolean => (body as { method?: unknown } | null | undefined)?.method === 'initialize'
