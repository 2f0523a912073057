/** An MCP server over HTTP with its own authorization server, which signs everybody in. */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from '../../harness/test-server.ts'

export interface OAuthServer {
  origin: string
  /** Access tokens that are accepted. */
  accepted: Set<string>
  /** Replaces the answers of /mcp. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  /** Replaces the results of methods. */
  results: Record<string, Json>
  /** Replaces fields of the metadata. */
  metadata: Record<string, unknown>
  /** Sends answers about OAuth as events, as which they are never read: with an empty line after each comma. */
  sendsEvents: boolean
  close(): Promise<void>
}

const TOOLS = [{ name: 'greet', description: 'Greets', inputSchema: { type: 'object', properties: {} } }]

export async function startOAuthServer(): Promise<OAuthServer> {
  let challenge = ''
  let tokenCount = 0
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', started.origin)
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts).toString()
    const sendJson = (value: Json, status = 200) => {
      const json = JSON.stringify(value)
      if (!started.sendsEvents) return response.writeHead(status, { 'content-type': 'application/json' }).end(json)
      response.writeHead(status, { 'content-type': 'text/event-stream' }).end(json.replaceAll(',', ',\n\n'))
    }
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource'))
      return sendJson({ resource: `${started.origin}/mcp`, authorization_servers: [started.origin], ...started.metadata })
    if (url.pathname.startsWith('/.well-known/oauth-authorization-server'))
      return sendJson({
        issuer: started.origin,
        authorization_endpoint: `${started.origin}/authorize`,
        token_endpoint: `${started.origin}/token`,
        registration_endpoint: `${started.origin}/register`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        ...started.metadata,
      })
    if (url.pathname === '/register') return sendJson({ ...JSON.parse(body), client_id: 'client-1' }, 201)
    if (url.pathname === '/authorize') {
      challenge = url.searchParams.get('code_challenge') ?? ''
      const target = new URL(url.searchParams.get('redirect_uri') ?? '')
      target.searchParams.set('code', 'code-1')
      target.searchParams.set('state', url.searchParams.get('state') ?? '')
      return response.writeHead(302, { location: target.href }).end()
    }
    if (url.pathname === '/token') {
      const form = new URLSearchParams(body)
      const isProven =
        createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url') === challenge
      const isValid =
        form.get('grant_type') === 'refresh_token'
          ? form.get('refresh_token') === 'refresh-0123456789'
          : isProven && form.get('code') === 'code-1'
      if (!isValid) return sendJson({ error: 'invalid_grant' }, 400)
      const token = `access-0123456789-${++tokenCount}`
      started.accepted.add(token)
      return sendJson({ access_token: token, token_type: 'Bearer', expires_in: 3600, refresh_token: 'refresh-0123456789' })
    }
    if (url.pathname !== '/mcp') return response.writeHead(404).end()
    if (!started.accepted.has(request.headers.authorization?.replace('Bearer ', '') ?? ''))
      return response
        .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${started.origin}/.well-known/oauth-protected-resource/mcp"` })
        .end()
    if (started.answer) return started.answer(request, response)
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method, params } = JSON.parse(body) as Json
    if (id === undefined) return response.writeHead(202).end()
    const results: Record<string, Json> = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'web', version: '1' } },
      'tools/list': { tools: TOOLS },
      'tools/call': { content: [{ type: 'text', text: 'Hello!' }] },
      ...started.results,
    }
    const result = results[method as string]
    return sendJson({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'Method not found' } }) })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const started: OAuthServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted: new Set(['static-token-0123456789']),
    answer: undefined,
    results: {},
    metadata: {},
    sendsEvents: false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return started
}
