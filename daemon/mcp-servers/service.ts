/** MCP servers: programs and URLs that offer tools. */
import { CadreError } from '../../src/contract/errors.ts'
import { mcpServers } from '../../src/contract/families/mcp/mcp-servers.ts'
import type { Caller } from '../core/caller.ts'
import { Resource } from '../crud/resource.ts'
import { redactStrings } from '../secrets/redact-strings.ts'
import type { Shared } from '../shared-services.ts'
import type { Transaction } from '../store/database.ts'
import { connectClient } from './connections/connect-client.ts'
import type { ToolListing } from './connections/list-tools.ts'
import { ServerConnections } from './connections/server-connections.ts'
import { formatResult } from './format-result.ts'
import { OAuthSessions } from './oauth-sessions.ts'
import { checkSecretScope, createRedactor, hasNewTarget, openSecrets, sealSecrets } from './secrets.ts'
import { type McpServerInput, mcpServerRecords, type StoredMcpServer } from './store.ts'
import { validateServer } from './validate-server.ts'

/** The approved tools of a server, which change with it. */
export interface ServerTools {
  /** Their names begin with the name of the server. */
  rename(transaction: Transaction, server: StoredMcpServer): Promise<void>
  /** Makes all of them ask again, because another program or URL would be called. */
  revokePermissions(transaction: Transaction, serverId: string): Promise<void>
  removeAll(transaction: Transaction, serverId: string, force: boolean): Promise<void>
}

export interface McpServersDependencies extends Shared<'database' | 'vault' | 'outbound' | 'logger'> {
  getTools(): ServerTools
}

export class McpServersService extends Resource<StoredMcpServer, McpServerInput> {
  readonly #dependencies: McpServersDependencies
  readonly #connections: ServerConnections
  readonly #oauth: OAuthSessions

  constructor(dependencies: McpServersDependencies) {
    const { database, vault, outbound, logger, getTools } = dependencies
    super(database, mcpServers, mcpServerRecords, {
      prepare: async (record, input, context) => {
        const { current, transaction } = context
        validateServer(record, input, context)
        checkSecretScope(record, input, current)
        if (current && current.name !== record.name) await getTools().rename(transaction, record)
        if (current && hasNewTarget(current, record)) await getTools().revokePermissions(transaction, record.id)
        return sealSecrets(vault, record, input, current)
      },
      openSecrets: (record) => ({ ...openSecrets(vault, record) }),
      afterSave: ({ id }) => this.#connections.disconnect(id),
      afterRemove: ({ id }) => this.#connections.disconnect(id),
    })
    this.#dependencies = dependencies
    this.#oauth = new OAuthSessions(dependencies)
    this.#connections = new ServerConnections({
      logger,
      connect: (server, options) =>
        connectClient(server, {
          ...options,
          outbound,
          secrets: openSecrets(vault, server),
          oauth: server.auth.type === 'oauth' ? this.#oauth.createProvider(server) : undefined,
        }),
    })
  }

  override async removeInTransaction(transaction: Transaction, record: StoredMcpServer, force: boolean): Promise<void> {
    await this.#dependencies.getTools().removeAll(transaction, record.id, force)
    await super.removeInTransaction(transaction, record, force)
  }

  /** Lists what the server offers. `isRetry` asks the server again, and starts it even if it failed a moment ago. */
  listTools(server: StoredMcpServer, isRetry = false): Promise<ToolListing> {
    return this.#redactErrors(server, () => this.#connections.list(server, isRetry))
  }

  /** Returns the text or the structured content of the result, without the secrets of the server. */
  async callTool(server: StoredMcpServer, tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
    const redactor = this.#createRedactor(server)
    return this.#redactErrors(server, async () => {
      const result = await this.#connections.call(server, tool, args, signal)
      return redactStrings(formatResult(server.name, result), (text) => redactor.redactKnown(text))
    })
  }

  async authorize(caller: Caller, id: string, redirectUri: string): Promise<{ authorization_url: string | null; state: string }> {
    return this.#oauth.begin(await this.require(this.database, caller, id), redirectUri)
  }

  async finishAuthorization(caller: Caller, id: string, redirect: { code: string; state: string; iss?: string }): Promise<StoredMcpServer> {
    await this.#oauth.finish(await this.require(this.database, caller, id), redirect)
    await this.#connections.disconnect(id)
    return this.get(caller, id)
  }

  /** Errors quote the server, which may quote its secrets. */
  async #redactErrors<T>(server: StoredMcpServer, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof CadreError)) throw error
      const { code, hint, cause } = error
      throw new CadreError(code, this.#createRedactor(server).redactKnown(error.message), { hint, cause })
    }
  }

  #createRedactor = (server: StoredMcpServer) => createRedactor(openSecrets(this.#dependencies.vault, server))

  /** Stops all servers. */
  close(): Promise<void> {
    return this.#connections.close()
  }
}
