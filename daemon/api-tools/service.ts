/** API tools: HTTP calls with their secrets sealed away. */
import type { Static } from 'typebox'
import { type ApiToolCreate, type ApiToolSecrets, type ApiToolUpdate, apiTools } from '../../src/contract/api-tools.ts'
import { invalid } from '../../src/contract/errors.ts'
import { adminsOnly } from '../caller.ts'
import { Resource, type Situation } from '../crud/service.ts'
import { CONNECTION_HEADERS } from '../outbound/address.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database } from '../store/database.ts'
import type { Validator } from '../validation.ts'
import { apiToolRecords, type StoredApiTool } from './store.ts'
import { checkUrlTemplate, placeholdersOf } from './url-template.ts'

type ApiToolInput = Static<typeof ApiToolCreate> | Static<typeof ApiToolUpdate>

export class ApiToolsService extends Resource<StoredApiTool, ApiToolInput> {
  constructor(database: Database, vault: Vault, validator: Validator) {
    super(database, apiTools, apiToolRecords, {
      prepare: async (draft, given, situation) => {
        const record = { ...draft, parameters: withShape(validator, draft.parameters) }
        const origin = checkUrlTemplate(record.url)
        checkPlaceholders(record)
        checkAuthority(given, situation, origin)
        return withSecrets(vault, record, given, situation.current)
      },
    })
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

function withSecrets(vault: Vault, record: StoredApiTool, given: ApiToolInput, current: StoredApiTool | undefined): StoredApiTool {
  const { header_names, auth, secrets } = current ?? { header_names: [], auth: { type: 'none' as const }, secrets: null }
  const kept = { header_names, auth, secrets }
  const { headers: _, ...rest } = record as StoredApiTool & { headers?: unknown }
  if (given.headers === undefined && given.auth === undefined) return { ...rest, ...kept }
  const context = `${record.id}/secrets`
  const known: ApiToolSecrets = kept.secrets === null ? { headers: {}, auth: { type: 'none' } } : JSON.parse(vault.open(kept.secrets, context))
  const next: ApiToolSecrets = { headers: given.headers ?? known.headers, auth: given.auth ?? known.auth }
  const refused = Object.keys(next.headers).find((name) => CONNECTION_HEADERS.includes(name.toLowerCase()))
  if (refused) throw invalid(`headers.${refused}`, 'is set by the connection itself')
  const empty = Object.keys(next.headers).length === 0 && next.auth.type === 'none'
  return {
    ...rest,
    header_names: Object.keys(next.headers),
    auth: next.auth.type === 'api_key' ? { type: 'api_key', name: next.auth.name, in: next.auth.in ?? 'header' } : { type: next.auth.type },
    secrets: empty ? null : vault.seal(JSON.stringify(next), context),
  }
}
