/** The way from a document to tools: fetched where it is elsewhere, planned in a thread of its own, proofs added. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { ApiToolCreate, ApiToolImport, ApiToolImportResult } from '../../src/contract/families/api-tools.ts'
import { CONNECTION_HEADERS, plainAddress } from '../outbound/address.ts'
import type { Outbound } from '../outbound/client.ts'
import { checkCredentials, type Proven, proven, valueFor } from './credentials.ts'
import type { Plan, PlannedTool } from './openapi/plan.ts'
import { plannedImport } from './openapi/reading.ts'
import type { StoredApiTool } from './store.ts'
import { checkUrlTemplate } from './url-template.ts'

export type ImportRequest = Static<typeof ApiToolImport>
export type ImportReply = Static<typeof ApiToolImportResult>
export type ImportedTool = ImportReply['tools'][number]

/** A tool that is about to be made, and what it proves itself with. */
export interface Draft {
  planned: PlannedTool
  proven: Proven
}

const LARGEST = 5 * 1024 * 1024

export async function draftsOf(
  given: ImportRequest,
  outbound: Outbound,
): Promise<{ plan: Plan; drafts: Draft[]; security: ImportReply['security'] }> {
  checkRequest(given)
  const { text, documentUrl } =
    given.url === undefined ? { text: textOf(given.document), documentUrl: undefined } : await fetched(given, outbound)
  const { only, server, server_variables: variables = {}, prefix = '', include_deprecated: includeDeprecated = false } = given
  const plan = await plannedImport(
    { text, options: { only, server, variables, documentUrl, prefix, includeDeprecated } },
    given.url === undefined ? 'document' : 'url',
  )
  const credentials = given.credentials ?? {}
  const securities = plan.tools.map(({ security }) => security)
  checkCredentials(credentials, securities)
  const saysNothing = securities.every((security) => security.length === 0)
  const drafts = plan.tools.map((planned) => ({ planned, proven: proven(planned.security, credentials, saysNothing) }))
  const schemes = new Map(securities.flat(2).map((proof) => [proof.scheme, proof]))
  const security = [...schemes.values()].map((proof) => ({
    scheme: proof.scheme,
    kind: proof.kind,
    given: valueFor(proof, credentials) !== undefined,
    tools: securities.filter((alternatives) => alternatives.flat().some(({ scheme }) => scheme === proof.scheme)).length,
  }))
  return { plan, drafts, security }
}

function checkRequest({ document, url, server, headers = {} }: ImportRequest): void {
  if ((document === undefined) === (url === undefined)) throw createValidationError('document', 'or url is needed, and only one of them')
  if (server !== undefined && /[{}?#]/.test(server))
    throw createValidationError('server', 'must be a plain address without placeholders, query or fragment')
  if (server !== undefined) plainAddress('server', server, 'Give it as credentials.')
  const refused = Object.keys(headers).find((name) => CONNECTION_HEADERS.includes(name.toLowerCase()))
  if (refused) throw createValidationError(`headers.${refused}`, 'is set by the connection itself')
}

function textOf(document: ImportRequest['document']): string {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  if (Buffer.byteLength(text) > LARGEST) throw tooLarge('document')
  return text
}

async function fetched(
  { url = '', allow_private_network }: ImportRequest,
  outbound: Outbound,
): Promise<{ text: string; documentUrl: string }> {
  const headers = { accept: 'application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5' }
  const answer = await outbound.request(url, { headers, allowPrivateNetwork: allow_private_network, maxBytes: LARGEST })
  if (answer.status !== 200)
    throw new CadreError('PROVIDER_ERROR', `${new URL(answer.url).host} answers ${answer.status} instead of the document.`)
  if (answer.truncated) throw tooLarge('url')
  return { text: Buffer.from(answer.body).toString('utf8'), documentUrl: answer.url }
}

const tooLarge = (field: string) =>
  new CadreError('PAYLOAD_TOO_LARGE', `${field}: must be smaller than 5 MB.`, {
    details: [{ field, problem: 'must be smaller than 5 MB' }],
  })

/** The tool as it would be created. */
export function creation({ planned, proven: { headers, auth } }: Draft, given: ImportRequest): Static<typeof ApiToolCreate> {
  const { timeout_ms, allow_private_network, requires_confirmation = planned.method !== 'GET' } = given
  const sent = { ...contentType(planned), ...given.headers, ...headers }
  return {
    name: planned.name,
    ...described(planned),
    requires_confirmation,
    auth,
    ...(Object.keys(sent).length > 0 ? { headers: sent } : {}),
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
    ...(allow_private_network === undefined ? {} : { allow_private_network }),
  }
}

/** What to change of a tool that is there: what the document says, and what the caller said; secrets only where new ones were given. */
export function change(draft: Draft, given: ImportRequest, current: StoredApiTool): Partial<Static<typeof ApiToolCreate>> {
  const { planned, proven: proof } = draft
  const { timeout_ms, allow_private_network, requires_confirmation } = given
  const headers = { ...given.headers, ...proof.headers }
  const wanted = {
    ...described(planned),
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
    ...(allow_private_network === undefined ? {} : { allow_private_network }),
    ...(requires_confirmation === undefined ? {} : { requires_confirmation }),
  }
  const changed = Object.entries(wanted).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(current[name as keyof StoredApiTool]),
  )
  return {
    ...Object.fromEntries(changed),
    ...(proof.auth.type === 'none' ? {} : { auth: proof.auth }),
    ...(Object.keys(headers).length > 0 ? { headers: { ...contentType(planned), ...headers } } : {}),
  }
}

const described = ({ description, method, url, parameters, locations, body_format }: PlannedTool) => ({
  description,
  method,
  url,
  parameters,
  locations,
  body_format,
})
const contentType = ({ contentType: type }: PlannedTool): Record<string, string> => (type === undefined ? {} : { 'Content-Type': type })

/** The tool to bring up to date, if there is one that may be. */
export function toUpdate({ name, url }: PlannedTool, found: readonly StoredApiTool[], mayUpdate: boolean): StoredApiTool | undefined {
  const [current, another] = found
  if (current === undefined) return undefined
  const conflict = (problem: string, hint: string) => new CadreError('CONFLICT', `The API tool "${name}" ${problem}.`, { hint })
  if (!mayUpdate)
    throw conflict('is there already', 'Bring it up to date with update (--update), or choose other names with prefix (--prefix).')
  if (another) throw conflict('is there more than once', 'Delete or rename all of them but one.')
  if (checkUrlTemplate(current.url) !== checkUrlTemplate(url))
    throw conflict(
      'belongs to another server',
      'Its secrets are not sent elsewhere: choose another name with prefix (--prefix), or delete it first.',
    )
  return current
}

export function reported({ planned, proven: { auth, missing } }: Draft, action: ImportedTool['action'], tool: StoredApiTool): ImportedTool {
  const { operation, name, description, method, url, parameters, locations, body_format, notes } = planned
  const told = [...notes, ...(missing === undefined || tool.auth.type !== 'none' ? [] : [missing])].map(
    (note) => `${note.replace(/^./, (letter) => letter.toUpperCase())}.`,
  )
  const kept = action !== 'create' && auth.type === 'none' && tool.auth.type !== 'none'
  return {
    ...{ operation, action, id: tool.id, name, description, method, url, parameters, locations, body_format },
    requires_confirmation: tool.requires_confirmation,
    auth: kept ? 'kept' : auth.type,
    notes: told,
  }
}
