/** API tools: HTTP calls with their secrets sealed away. */
import { setImmediate as breath } from 'node:timers/promises'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { apiTools } from '../../src/contract/families/api-tools.ts'
import { adminsOnly, type Caller, type Change } from '../core/caller.ts'
import type { Tool } from '../core/tool.ts'
import { Resource } from '../crud/resource.ts'
import type { Outbound } from '../outbound/client.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import type { Validator } from '../validation/validator.ts'
import { agentTool } from './agent-tool.ts'
import type { ToolAnswer } from './answer.ts'
import { checkAuthority } from './authority.ts'
import { ApiCalls, type CallParts } from './calls.ts'
import {
  change as changeOf,
  creation,
  type Draft,
  draftsOf,
  type ImportedTool,
  type ImportReply,
  type ImportRequest,
  reported,
  toUpdate,
} from './importing.ts'
import { checkLocations } from './request.ts'
import { type ApiToolInput, openSecrets, withSecrets } from './secrets.ts'
import { apiToolRecords, type StoredApiTool } from './store.ts'
import { checkUrlTemplate, placeholdersOf } from './url-template.ts'

export interface ApiToolParts extends CallParts {
  database: Database
}

export class ApiToolsService extends Resource<StoredApiTool, ApiToolInput> {
  readonly #calls: ApiCalls
  readonly #outbound: Outbound

  constructor({ database, ...parts }: ApiToolParts) {
    const { vault, validator } = parts
    super(database, apiTools, apiToolRecords, {
      prepare: async (draft, given, situation) => {
        const record = { ...draft, parameters: withShape(validator, draft.parameters) }
        const origin = checkUrlTemplate(record.url)
        checkPlaceholders(record)
        checkLocations(record)
        checkAuthority(record, given, situation, origin)
        return withSecrets(vault, record, given, situation.current)
      },
      openSecrets: (record) => {
        const { headers, auth } = openSecrets(vault, record)
        return { headers, auth: auth.type === 'api_key' ? { ...auth, in: auth.in ?? 'header' } : auth }
      },
    })
    this.#calls = new ApiCalls(parts)
    this.#outbound = parts.outbound
  }

  /** Makes the call for whoever sets the tool up, and gives all of the answer but what proves who calls. */
  async test(caller: Caller, id: string, args: Record<string, unknown>): Promise<ToolAnswer> {
    return this.#calls.run(await this.require(this.database, caller, id), args)
  }

  /** Makes a tool of each operation of an OpenAPI document, all in one transaction. */
  async import(change: Change, given: ImportRequest): Promise<ImportReply> {
    if (given.allow_private_network) adminsOnly(change.caller, 'let a tool reach the private network')
    const { plan, drafts, security } = await draftsOf(given, this.#outbound)
    const reply: ImportReply = { title: plan.title, tools: [], skipped: plan.skipped, security }
    try {
      await this.database.write(async (transaction) => {
        for (const draft of drafts) {
          // Compiling hundreds of schemas takes seconds: others are answered in between.
          await breath()
          const imported = await this.#imported(transaction, change.caller, draft, given)
          if (imported instanceof CadreError) reply.skipped.push({ operation: draft.planned.operation, reason: imported.message })
          else reply.tools.push(imported)
        }
        if (given.dry_run) throw new OnlyTried()
        await change.remember?.(transaction, reply)
      })
    } catch (error) {
      if (!(error instanceof OnlyTried)) throw error
      for (const findTool of reply.tools) if (findTool.action === 'create') findTool.id = null
    }
    return reply
  }

  /** What became of one operation, or why nothing could. */
  async #imported(transaction: Transaction, caller: Caller, draft: Draft, given: ImportRequest): Promise<ImportedTool | CadreError> {
    const current = toUpdate(draft.planned, await this.records.find(transaction, { name: draft.planned.name }, 2), given.update === true)
    try {
      if (!current) return reported(draft, 'create', (await this.createInTransaction(transaction, caller, creation(draft, given))).stored)
      const change = changeOf(draft, given, current)
      if (Object.keys(change).length === 0) return reported(draft, 'keep', current)
      return reported(draft, 'update', (await this.updateInTransaction(transaction, caller, current, change)).stored)
    } catch (error) {
      if (error instanceof CadreError && error.code === 'VALIDATION_ERROR') return error
      throw error
    }
  }

  /** The tool as an agent uses it. */
  async tool(reader: Reader, id: string): Promise<Tool | undefined> {
    const record = await this.records.get(reader, id)
    return record && agentTool(record, (args, signal) => this.#calls.run(record, args, { signal, hideHeaders: true }))
  }
}

/** Takes back what was done to see that it can be. */
class OnlyTried extends Error {}

function withShape(validator: Validator, parameters: Record<string, unknown>): Record<string, unknown> {
  const schema = Object.keys(parameters).length === 0 ? { type: 'object', properties: {} } : parameters
  if (schema.type !== 'object') throw createValidationError('parameters.type', 'must be "object"')
  const problem = validator.schemaProblem(schema)
  if (problem) throw createValidationError('parameters', `is not a JSON Schema: ${problem}`)
  return schema
}

function checkPlaceholders({ url, parameters }: StoredApiTool): void {
  const properties = (parameters.properties ?? {}) as object
  const unknown = placeholdersOf(url).filter((name) => !Object.hasOwn(properties, name))
  if (unknown.length > 0)
    throw createValidationError('parameters', `the url needs ${unknown.join(', ')}`, 'Add each placeholder to parameters.properties.')
}
