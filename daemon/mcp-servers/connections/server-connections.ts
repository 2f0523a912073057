/** Keeps connections to MCP servers, restarts servers with increasing delays and stops those that nobody uses. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import { CadreError } from '../../../src/contract/errors.ts'
import type { Logger } from '../../logging/logger.ts'
import type { StoredMcpServer } from '../store.ts'
import type { ConnectedClient, ConnectOptions } from './connect-client.ts'
import { listTools, type ToolListing } from './list-tools.ts'
import { formatServerText, toServerError } from './server-error.ts'

const MAX_CONNECTIONS = 50
const IDLE_MS = 10 * 60_000
const SWEEP_MS = 60_000
const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 60_000
/** A server that ran this long starts again with the first delay. */
const STABLE_MS = 60_000
/** Servers should report changes of their tools, but not all do. A call never relies on an older list. */
const LISTING_MS = 10_000

interface Connection {
  version: number
  client: Promise<ConnectedClient>
  /** Stops connecting. */
  stop: AbortController
  startedAt: number
  lastUsedAt: number
  callCount: number
  listing: { at: number; tools: Promise<ToolListing> } | undefined
}

interface Failure {
  version: number
  count: number
  retryAt: number
  error: CadreError
}

interface ServerConnectionsOptions {
  connect(server: StoredMcpServer, options: Pick<ConnectOptions, 'onToolsChanged' | 'signal'>): Promise<ConnectedClient>
  logger: Logger
  /** In milliseconds; tests replace it. */
  now?: () => number
}

export class ServerConnections {
  readonly #options: Required<ServerConnectionsOptions>
  readonly #connections = new Map<string, Connection>()
  readonly #failures = new Map<string, Failure>()
  readonly #sweeper: NodeJS.Timeout
  #closed = false

  constructor(options: ServerConnectionsOptions) {
    this.#options = { now: Date.now, ...options }
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref()
  }

  /** `isRetry` connects at once, even if the server failed a moment ago, and lists its tools again. */
  list(server: StoredMcpServer, isRetry = false): Promise<ToolListing> {
    if (isRetry) this.#failures.delete(server.id)
    return this.#use(server, async (connection, connected) => {
      const { now } = this.#options
      if (connection.listing === undefined || isRetry || now() - connection.listing.at > LISTING_MS) {
        const listing = { at: now(), tools: listTools(connected.client, server.timeout_ms) }
        connection.listing = listing
        // A failed listing is not kept.
        listing.tools.catch(() => {
          if (connection.listing === listing) connection.listing = undefined
        })
      }
      return connection.listing.tools
    })
  }

  call(server: StoredMcpServer, tool: string, args: Record<string, unknown>, signal: AbortSignal | undefined): Promise<CallToolResult> {
    const { timeout_ms: timeout } = server
    return this.#use(server, (_, { client }) =>
      client.callTool({ name: tool, arguments: args }, { timeout, maxTotalTimeout: timeout, signal }),
    )
  }

  /** Closes the connection of a server that was changed or deleted. */
  async disconnect(id: string): Promise<void> {
    this.#failures.delete(id)
    const connection = this.#connections.get(id)
    this.#connections.delete(id)
    if (connection) await closeConnection(connection)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#sweeper)
    const connections = [...this.#connections.values()]
    this.#connections.clear()
    await Promise.all(connections.map(closeConnection))
  }

  async #use<T>(server: StoredMcpServer, work: (connection: Connection, connected: ConnectedClient) => Promise<T>): Promise<T> {
    const connection = await this.#getConnection(server)
    connection.callCount++
    let connected: ConnectedClient | undefined
    try {
      connected = await connection.client
      return await work(connection, connected)
    } catch (error) {
      const translated = toServerError(server, error, connected?.getProblem() ?? (error as { problem?: string }).problem)
      // Requests that were not answered stay open until the connection is closed.
      if (translated.code === 'PROVIDER_TIMEOUT' && server.url !== null && connection.callCount === 1) void this.disconnect(server.id)
      throw translated
    } finally {
      connection.callCount--
      connection.lastUsedAt = this.#options.now()
    }
  }

  async #getConnection(server: StoredMcpServer): Promise<Connection> {
    // Looks again after each wait: another call may have connected meanwhile, whose process would never be stopped.
    for (let existing = this.#connections.get(server.id); existing; existing = this.#connections.get(server.id)) {
      if (existing.version === server.version) return existing
      await this.disconnect(server.id)
    }
    if (this.#closed) throw new CadreError('UNAVAILABLE', 'The daemon is stopping.')
    this.#checkFailure(server)
    this.#makeRoom()
    return this.#connect(server)
  }

  #connect(server: StoredMcpServer): Connection {
    const { connect, now } = this.#options
    const startedAt = now()
    const stop = new AbortController()
    const onToolsChanged = () => {
      connection.listing = undefined
    }
    const connection: Connection = {
      version: server.version,
      client: connect(server, { onToolsChanged, signal: stop.signal }),
      stop,
      startedAt,
      lastUsedAt: startedAt,
      callCount: 0,
      listing: undefined,
    }
    this.#connections.set(server.id, connection)
    connection.client.then(
      ({ client, getProblem }) => {
        client.onclose = () => this.#handleEnd(server, connection, new Error('closed'), getProblem())
      },
      (error: unknown) => this.#handleEnd(server, connection, error, (error as { problem?: string }).problem),
    )
    return connection
  }

  /** Records that a server ended or could not be started, and when it may be started again. */
  #handleEnd(server: StoredMcpServer, connection: Connection, cause: unknown, problem: string | undefined): void {
    if (this.#connections.get(server.id) !== connection) return
    const { now, logger } = this.#options
    this.#connections.delete(server.id)
    const wasStable = now() - connection.startedAt > STABLE_MS
    const count = wasStable ? 1 : (this.#failures.get(server.id)?.count ?? 0) + 1
    const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (count - 1))
    const error = toServerError(server, cause, problem ?? (cause instanceof Error && cause.message === 'closed' ? 'stopped' : undefined))
    this.#failures.set(server.id, { version: server.version, count, retryAt: now() + delay, error })
    logger.warn(
      { mcp_server: server.id, failures: count, retry_in_ms: delay, reason: formatServerText(error.message) },
      'an MCP server failed',
    )
  }

  #checkFailure({ id, version }: StoredMcpServer): void {
    const failure = this.#failures.get(id)
    if (failure === undefined || failure.version !== version) return
    const seconds = Math.ceil((failure.retryAt - this.#options.now()) / 1_000)
    if (seconds <= 0) return
    const { code, message, hint } = failure.error
    throw new CadreError(code, `${message.replace(/\.$/, '')}. It can be started again in ${seconds} s.`, { hint })
  }

  /** Ends the connection that was not used for the longest time. */
  #makeRoom(): void {
    if (this.#connections.size < MAX_CONNECTIONS) return
    const idle = [...this.#connections].filter(([, { callCount }]) => callCount === 0)
    const [oldest] = idle.sort(([, one], [, other]) => one.lastUsedAt - other.lastUsedAt)
    if (!oldest) throw new CadreError('UNAVAILABLE', `${MAX_CONNECTIONS} MCP servers are busy.`, { hint: 'Try again later.' })
    void this.disconnect(oldest[0])
  }

  #sweep(): void {
    const before = this.#options.now() - IDLE_MS
    for (const [id, { callCount, lastUsedAt }] of this.#connections) if (callCount === 0 && lastUsedAt < before) void this.disconnect(id)
  }
}

async function closeConnection({ client, stop }: Connection): Promise<void> {
  stop.abort()
  const connected = await client.catch(() => undefined)
  // Closing a connection that is broken can fail; nothing uses it any more.
  await connected?.client.close().catch(() => undefined)
}
