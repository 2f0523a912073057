/** MCP tools: tools of MCP servers with approved definitions, which agents can call. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { type Discovery, mcpTools, NAME_SEPARATOR } from '../../src/contract/families/mcp/mcp-tools.ts'
import { type Caller, requireAdmin } from '../core/caller.ts'
import type { Tool } from '../core/tool.ts'
import { truncateValue } from '../core/truncate-value.ts'
import { Resource } from '../crud/resource.ts'
import type { McpServersService, ServerTools } from '../mcp-servers/service.ts'
import type { Shared } from '../shared-services.ts'
import type { DatabaseReader, Transaction } from '../store/database.ts'
import { revokeAllowedTool } from '../store/links.ts'
import { ArgumentValidator } from '../validation/argument-validator.ts'
import { checkParameters } from '../validation/check-parameters.ts'
import type { Validator } from '../validation/validator.ts'
import { compareTools, hasSameDefinition, type ToolOffer } from './compare-tools.ts'
import { type McpToolInput, mcpToolRecords, requireConfirmations, type StoredMcpTool } from './store.ts'

/** More than a server may offer. */
const MAX_TOOLS = 1_000

export interface McpToolsDependencies extends Shared<'database' | 'validator'> {
  servers: McpServersService
}

type StoredServer = NonNullable<Awaited<ReturnType<McpServersService['records']['get']>>>

export class McpToolsService extends Resource<StoredMcpTool, McpToolInput> implements ServerTools {
  readonly #servers: McpServersService
  readonly #validator: Validator
  readonly #argumentValidator: ArgumentValidator

  constructor({ database, validator, servers }: McpToolsDependencies) {
    super(database, mcpTools, mcpToolRecords, {
      prepare: async (draft, input, { transaction, caller, current }) => {
        const server = await servers.records.get(transaction, draft.mcp_server_id)
        if (!server) throw createValidationError('mcp_server_id', `there is no MCP server "${draft.mcp_server_id}"`)
        const name = formatName(server.name, draft.tool)
        if (input.name !== undefined && input.name !== name) throw createValidationError('name', `must be "${name}"`)
        const record = { ...draft, name, parameters: checkParameters(validator, draft.parameters) }
        const isChanged = current !== undefined && (current.tool !== record.tool || !hasSameDefinition(current, record))
        const requires_confirmation = input.requires_confirmation ?? (isChanged || current === undefined || current.requires_confirmation)
        if (!requires_confirmation && (current === undefined || current.requires_confirmation || isChanged))
          requireAdmin(caller, 'allow calls of MCP tools without confirmation')
        if (isChanged) await revokeAllowedTool(transaction, record.id)
        return { ...record, requires_confirmation }
      },
    })
    this.#servers = servers
    this.#validator = validator
    this.#argumentValidator = new ArgumentValidator(validator)
  }

  /** Lists what a server offers now, compared with the approved tools. */
  async discover(caller: Caller, serverId: string): Promise<Static<typeof Discovery>> {
    const server = await this.#servers.require(this.database, caller, serverId)
    const listing = await this.#servers.listTools(server, true)
    const offers: ToolOffer[] = []
    for (const offer of listing.tools) {
      // Compiling hundreds of schemas takes seconds; other requests are served in between.
      await yieldToEventLoop()
      offers.push(this.#checkOffer(offer))
    }
    const approved = await this.records.find(this.database, { mcp_server_id: serverId }, MAX_TOOLS)
    return { server: listing.server, tools: compareTools(offers, approved) }
  }

  async test(caller: Caller, id: string, args: Record<string, unknown>): Promise<{ result: unknown; latency_ms: number }> {
    const record = await this.require(this.database, caller, id)
    const startedAt = performance.now()
    const result = await this.#run(record, args)
    return { result, latency_ms: Math.round((performance.now() - startedAt) * 10) / 10 }
  }

  async findTool(reader: DatabaseReader, id: string): Promise<Tool | undefined> {
    const record = await this.records.get(reader, id)
    if (!record) return undefined
    return {
      id,
      name: record.name,
      description: record.description,
      parameters: record.parameters,
      requiresConfirmation: record.requires_confirmation,
      run: async (args, { signal }) => ({ kind: 'value', value: await this.#run(record, args, signal) }),
    }
  }

  async rename(transaction: Transaction, { id, name }: StoredServer): Promise<void> {
    for (const record of await this.records.find(transaction, { mcp_server_id: id }, MAX_TOOLS))
      await this.save(transaction, { ...record, name: formatName(name, record.tool), updated_at: new Date().toISOString() })
  }

  async revokePermissions(transaction: Transaction, serverId: string): Promise<void> {
    for (const { id } of await this.records.find(transaction, { mcp_server_id: serverId }, MAX_TOOLS))
      await revokeAllowedTool(transaction, id)
    await requireConfirmations(transaction, serverId)
  }

  async removeAll(transaction: Transaction, serverId: string, force: boolean): Promise<void> {
    for (const record of await this.records.find(transaction, { mcp_server_id: serverId }, MAX_TOOLS))
      await this.removeInTransaction(transaction, record, force)
  }

  /** Calls the tool if the server still offers it as it was approved. */
  async #run(record: StoredMcpTool, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
    this.#argumentValidator.validate(record, args)
    const server = await this.#servers.records.get(this.database, record.mcp_server_id)
    if (!server) throw new CadreError('NOT_FOUND', `The MCP server of the tool "${record.name}" was deleted.`)
    const { tools } = await this.#servers.listTools(server)
    const offer = tools.find(({ tool }) => tool === record.tool)
    const hint = `Review its tools: cadre tools refresh ${server.name}`
    if (!offer) throw new CadreError('NOT_FOUND', `The MCP server "${server.name}" no longer offers the tool "${record.tool}".`, { hint })
    const { problem, ...current } = this.#checkOffer(offer)
    if (problem !== undefined || !hasSameDefinition(current, record))
      throw new CadreError(
        'CONFLICT',
        `The MCP server "${server.name}" changed the tool "${record.tool}" after it was approved. ` +
          'It is not called until the change is approved.',
        { hint },
      )
    return truncateValue(await this.#servers.callTool(server, record.tool, args, signal))
  }

  #checkOffer(offer: ToolOffer): ToolOffer {
    if (offer.problem !== undefined) return offer
    try {
      return { ...offer, parameters: checkParameters(this.#validator, offer.parameters) }
    } catch (error) {
      if (!(error instanceof CadreError)) throw error
      return { ...offer, problem: error.message }
    }
  }
}

/** Two underscores are not part of the name of a server, so that names of different servers are different. */
const formatName = (server: string, tool: string): string => `${server}${NAME_SEPARATOR}${tool}`
