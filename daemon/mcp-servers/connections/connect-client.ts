/** Connects a client of the MCP SDK to a server: a process or a URL. */
import type { Client, ClientOptions, OAuthClientProvider, Transport } from '@modelcontextprotocol/client'
import type { McpServerSecrets } from '../../../src/contract/families/mcp/mcp-servers.ts'
import { version } from '../../../src/version.ts'
import type { Outbound } from '../../outbound/client.ts'
import { createGuardedFetch } from '../../outbound/guarded-fetch.ts'
import type { StoredMcpServer } from '../store.ts'
import { createResponseLimit, TrafficLimit } from './message-limit.ts'
import { StdioTransport } from './stdio-transport.ts'

/** Each page is a message. */
const MAX_PAGES = 20

export interface ConnectOptions {
  outbound: Outbound
  secrets: McpServerSecrets
  /** For servers with OAuth. */
  oauth: OAuthClientProvider | undefined
  /** Called when the server says that its tools changed. */
  onToolsChanged(): void
  /** Stops connecting. */
  signal: AbortSignal
}

export interface ConnectedClient {
  client: Client
  /** Why the connection ended, if the server caused it. */
  getProblem(): string | undefined
}

/** A schema of the server must not run in the daemon: Cadre does not use the structure of results. */
const acceptAnything: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
}

export async function connectClient(server: StoredMcpServer, options: ConnectOptions): Promise<ConnectedClient> {
  // Loaded with the first server: most daemons have none.
  const { Client, ProtocolError } = await import('@modelcontextprotocol/client')
  const connect = async (mode: 'auto' | 'legacy'): Promise<ConnectedClient> => {
    const client = new Client(
      { name: 'cadre', version },
      {
        // No sampling, elicitation or roots: requests of the server are refused.
        capabilities: {},
        jsonSchemaValidator: acceptAnything,
        inputRequired: { autoFulfill: false },
        listMaxPages: MAX_PAGES,
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: options.onToolsChanged } },
        versionNegotiation: { mode },
      },
    )
    const { transport, getProblem } = await createTransport(server, options)
    const timeout = { timeout: server.timeout_ms, maxTotalTimeout: server.timeout_ms }
    try {
      await client.connect(transport, { ...timeout, signal: options.signal })
      return { client, getProblem }
    } catch (error) {
      const problem = getProblem()
      await transport.close()
      throw Object.assign(error as Error, { problem })
    }
  }
  if (server.url !== null) return connect('auto')
  // Older servers exit when the first message is not a handshake, newer ones may refuse the handshake.
  return connect('legacy').catch((error: unknown) => {
    if (ProtocolError.isInstance(error)) return connect('auto')
    throw error
  })
}

async function createTransport(
  server: StoredMcpServer,
  { outbound, secrets, oauth }: ConnectOptions,
): Promise<{ transport: Transport; getProblem(): string | undefined }> {
  if (server.url === null) {
    const { command, args, memory_mb } = server
    const transport = new StdioTransport({ command: command as string, args, env: secrets.env, memoryMb: memory_mb })
    return { transport, getProblem: () => transport.problem }
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const traffic = new TrafficLimit()
  let problem: string | undefined
  const checkLimit = (exceeded: string | undefined): string | undefined => {
    if (exceeded !== undefined && problem === undefined) void transport.close()
    problem ??= exceeded
    return problem
  }
  const createLimit = createResponseLimit(traffic, checkLimit)
  const { allow_private_network, timeout_ms } = server
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: createGuardedFetch(outbound, { allowPrivateNetwork: allow_private_network, timeoutMs: timeout_ms, createLimit }),
    requestInit: { headers: listHeaders(secrets) },
    redirectPolicy: 'same-origin',
    reconnectionOptions: { maxRetries: 2, initialReconnectionDelay: 1_000, maxReconnectionDelay: 30_000, reconnectionDelayGrowFactor: 2 },
    authProvider: oauth,
  })
  // The client calls this handler before its own, which no longer expects a response once the transport is closed.
  transport.onmessage = (message) => void checkLimit(traffic.count({ messages: 1 }) ?? traffic.countElements(message))
  return { transport, getProblem: () => problem }
}

const listHeaders = ({ headers, auth }: McpServerSecrets): Record<string, string> =>
  auth.type === 'bearer' ? { ...headers, Authorization: `Bearer ${auth.token}` } : headers
