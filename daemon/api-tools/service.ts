/** API tools: HTTP calls that agents can make. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { apiTools } from '../../src/contract/families/api-tools.ts'
import { type Caller, type ChangeContext, requireAdmin } from '../core/caller.ts'
import type { Tool } from '../core/tool.ts'
import { Resource } from '../crud/resource.ts'
import type { Outbound } from '../outbound/client.ts'
import type { Shared } from '../shared-services.ts'
import type { DatabaseReader, Transaction } from '../store/database.ts'
import { revokeAllowedTool } from '../store/links.ts'
import { checkParameters } from '../validation/check-parameters.ts'
import { checkLocations } from './build-request.ts'
import { checkPermissions, hasNewRequest, resolveConfirmation } from './check-permissions.ts'
import { createAgentTool } from './create-agent-tool.ts'
import { type ApiCallerDependencies, type CallApi, createApiCaller } from './create-api-caller.ts'
import {
  buildCreate,
  buildUpdate,
  draftTools,
  findToolToUpdate,
  type ImportedTool,
  type ImportRequest,
  type ImportResponse,
  reportTool,
  type ToolDraft,
} from './import-openapi.ts'
import { ToolPlanner } from './openapi/tool-planner.ts'
import type { ApiToolResponse } from './parse-response.ts'
import { checkSecretScope } from './secret-scope.ts'
import { openSecrets, sealSecrets } from './secrets.ts'
import { type ApiToolInput, apiToolRecords, type StoredApiTool } from './store.ts'
import { checkUrlTemplate, listPlaceholders } from './url-template.ts'

export type ApiToolsDependencies = ApiCallerDependencies & Shared<'database'>

export class ApiToolsService extends Resource<StoredApiTool, ApiToolInput> {
  readonly #callApi: CallApi
  readonly #outbound: Outbound
  readonly #planner = new ToolPlanner()

  constructor({ database, ...parts }: ApiToolsDependencies) {
    const { vault, validator } = parts
    super(database, apiTools, apiToolRecords, {
      prepare: async (draft, input, context) => {
        checkUrlTemplate(draft.url)
        const requires_confirmation = resolveConfirmation(draft, input, context.current)
        const record = { ...draft, requires_confirmation, parameters: checkParameters(validator, draft.parameters) }
        checkPlaceholders(record)
        checkLocations(record)
        checkPermissions(record, input, context)
        checkSecretScope(record, input, context.current)
        if (context.current && hasNewRequest(context.current, record)) await revokeAllowedTool(context.transaction, record.id)
        return sealSecrets(vault, record, input, context.current)
      },
      openSecrets: (record) => {
        const { headers, auth } = openSecrets(vault, record)
        return { headers, auth: auth.type === 'api_key' ? { ...auth, in: auth.in ?? 'header' } : auth }
      },
    })
    this.#callApi = createApiCaller(parts)
    this.#outbound = parts.outbound
  }

  /** Calls the API and returns the complete response, except for the tool's secrets. Admins see headers that the server returns. */
  async test(caller: Caller, id: string, args: Record<string, unknown>): Promise<ApiToolResponse> {
    return this.#callApi(await this.require(this.database, caller, id), args, { showsHeaders: caller.role === 'admin' })
  }

  /** Creates a tool for each operation of an OpenAPI document, in one transaction. */
  async import(change: ChangeContext, input: ImportRequest): Promise<ImportResponse> {
    if (input.allow_private_network) requireAdmin(change.caller, 'give a tool access to the private network')
    const { plan, drafts, security } = await draftTools(input, this.#outbound, this.#planner)
    const response: ImportResponse = { title: plan.title, tools: [], skipped: plan.skipped, security }
    try {
      await this.database.write(async (transaction) => {
        for (const draft of drafts) {
          // Compiling hundreds of schemas takes seconds; other requests are served in between.
          await yieldToEventLoop()
          const imported = await this.#importTool(transaction, change.caller, draft, input)
          if (imported instanceof CadreError) response.skipped.push({ operation: draft.planned.operation, reason: imported.message })
          else response.tools.push(imported)
        }
        if (input.dry_run) throw new DryRunRollback()
        await change.storeResponse?.(transaction, response)
      })
    } catch (error) {
      if (!(error instanceof DryRunRollback)) throw error
      for (const tool of response.tools) if (tool.action === 'create') tool.id = null
    }
    return response
  }

  /** Returns the error if the operation is not a valid tool. */
  async #importTool(transaction: Transaction, caller: Caller, draft: ToolDraft, input: ImportRequest): Promise<ImportedTool | CadreError> {
    const current = findToolToUpdate(
      draft.planned,
      await this.records.find(transaction, { name: draft.planned.name }, 2),
      input.update === true,
    )
    try {
      if (!current)
        return reportTool(draft, 'create', (await this.createInTransaction(transaction, caller, buildCreate(draft, input))).stored)
      const change = buildUpdate(draft, input, current)
      if (Object.keys(change).length === 0) return reportTool(draft, 'keep', current)
      return reportTool(draft, 'update', (await this.updateInTransaction(transaction, caller, current, change)).stored, current)
    } catch (error) {
      if (error instanceof CadreError && error.code === 'VALIDATION_ERROR') return error
      throw error
    }
  }

  async findTool(reader: DatabaseReader, id: string): Promise<Tool | undefined> {
    const record = await this.records.get(reader, id)
    return record && createAgentTool(record, (args, signal) => this.#callApi(record, args, { signal }))
  }
}

/** Rolls the transaction of a dry run back. */
class DryRunRollback extends Error {}

function checkPlaceholders({ url, parameters }: StoredApiTool): void {
  const properties = (parameters.properties ?? {}) as object
  const unknown = listPlaceholders(url).filter((name) => !Object.hasOwn(properties, name))
  if (unknown.length > 0)
    throw createValidationError(
      'parameters',
      `must declare ${unknown.join(', ')}, which the url uses`,
      'Add each placeholder to parameters.properties.',
    )
}
