/** API tools: HTTP calls with their secrets sealed away. */
import { apiTools } from '../../src/contract/api-tools.ts'
import { invalid } from '../../src/contract/errors.ts'
import { adminsOnly, type Caller } from '../caller.ts'
import { Resource, type Situation } from '../crud/service.ts'
import type { Database, Reader } from '../store/database.ts'
import type { Tool } from '../tool.ts'
import type { Validator } from '../validation.ts'
import { agentTool } from './agent-tool.ts'
import type { ToolAnswer } from './answer.ts'
import { ApiCalls, type CallParts } from './calls.ts'
import { checkLocations } from './request.ts'
import { type ApiToolInput, withSecrets } from './secrets.ts'
import { apiToolRecords, type StoredApiTool } from './store.ts'
import { checkUrlTemplate, placeholdersOf } from './url-template.ts'

export interface ApiToolParts extends CallParts {
  database: Database
}

export class ApiToolsService extends Resource<StoredApiTool, ApiToolInput> {
  readonly #calls: ApiCalls

  constructor({ database, ...parts }: ApiToolParts) {
    const { vault, validator } = parts
    super(database, apiTools, apiToolRecords, {
      prepare: async (draft, given, situation) => {
        const record = { ...draft, parameters: withShape(validator, draft.parameters) }
        const origin = checkUrlTemplate(record.url)
        checkPlaceholders(record)
        checkLocations(record)
        checkAuthority(given, situation, origin)
        return withSecrets(vault, record, given, situation.current)
      },
    })
    this.#calls = new ApiCalls(parts)
  }

  /** Makes the call for whoever sets the tool up, and gives all of the answer but what proves who calls. */
  async test(caller: Caller, id: string, args: Record<string, unknown>): Promise<ToolAnswer> {
    return this.#calls.run(await this.require(this.database, caller, id), args)
  }

  /** The tool as an agent uses it. */
  async tool(reader: Reader, id: string): Promise<Tool | undefined> {
    const record = await this.records.get(reader, id)
    return record && agentTool(record, (args, signal) => this.#calls.run(record, args, { signal, hideHeaders: true }))
  }
}

function withShape(validator: Validator, parameters: Record<string, unknown>): Record<string, unknown> {
  const schema = Object.keys(parameters).length === 0 ? { type: 'object', properties: {} } : parameters
  if (schema.type !== 'object') throw invalid('parameters.type', 'must be "object"')
  const problem = validator.schemaProblem(schema)
  if (problem) throw invalid('parameters', `is not a JSON Schema: ${problem}`)
  return schema
}

function checkPlaceholders({ url, parameters }: StoredApiTool): void {
  const properties = (parameters.properties ?? {}) as object
  const unknown = placeholdersOf(url).filter((name) => !Object.hasOwn(properties, name))
  if (unknown.length > 0) throw invalid('parameters', `the url needs ${unknown.join(', ')}`, 'Add each placeholder to parameters.properties.')
}

/** What was allowed or kept for one address must not serve another without an admin. */
function checkAuthority(given: ApiToolInput, { caller, current }: Situation<StoredApiTool>, origin: string): void {
  if (given.allow_private_network) adminsOnly(caller, 'let a tool reach the private network')
  if (current === undefined || checkUrlTemplate(current.url) === origin) return
  if (current.allow_private_network || current.secrets !== null)
    adminsOnly(caller, 'change where a tool with secrets or access to the private network sends its calls')
}
