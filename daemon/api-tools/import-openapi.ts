/** Imports OpenAPI documents: fetches the document, plans its tools in a worker thread and adds credentials. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { ApiToolCreate, ApiToolImport, ApiToolImportResult } from '../../src/contract/families/api-tools.ts'
import type { Outbound } from '../outbound/client.ts'
import { checkHeaderNames, parseHttpUrl } from '../outbound/parse-url.ts'
import { hasNewRequest } from './check-permissions.ts'
import { checkCredentials, findCredential, type MatchedCredentials, matchCredentials } from './match-credentials.ts'
import type { Plan, PlannedTool } from './openapi/plan-tools.ts'
import type { ToolPlanner } from './openapi/tool-planner.ts'
import type { StoredApiTool } from './store.ts'
import { checkUrlTemplate } from './url-template.ts'

export type ImportRequest = Static<typeof ApiToolImport>
export type ImportResponse = Static<typeof ApiToolImportResult>
export type ImportedTool = ImportResponse['tools'][number]

/** A planned tool with its credentials. */
export interface ToolDraft {
  planned: PlannedTool
  credentials: MatchedCredentials
}

const MAX_DOCUMENT_BYTES = 5 * 1024 * 1024

export async function draftTools(
  request: ImportRequest,
  outbound: Outbound,
  planner: ToolPlanner,
): Promise<{ plan: Plan; drafts: ToolDraft[]; security: ImportResponse['security'] }> {
  checkRequest(request)
  const { text, documentUrl } =
    request.url === undefined ? { text: getDocumentText(request.document), documentUrl: undefined } : await fetchDocument(request, outbound)
  const { only, server, server_variables: variables = {}, prefix = '', include_deprecated: includeDeprecated = false } = request
  const plan = await planner.plan(
    { text, options: { only, server, variables, documentUrl, prefix, includeDeprecated } },
    request.url === undefined ? 'document' : 'url',
  )
  const credentials = request.credentials ?? {}
  const securities = plan.tools.map(({ security }) => security)
  checkCredentials(credentials, securities)
  const hasNoSecurity = securities.every((security) => security.length === 0)
  const drafts = plan.tools.map((planned) => ({
    planned,
    credentials: matchCredentials(planned.security, credentials, hasNoSecurity),
  }))
  const schemes = new Map(securities.flat(2).map((requirement) => [requirement.scheme, requirement]))
  const security = [...schemes.values()].map((requirement) => ({
    scheme: requirement.scheme,
    kind: requirement.kind,
    given: findCredential(requirement, credentials) !== undefined,
    tools: securities.filter((alternatives) => alternatives.flat().some(({ scheme }) => scheme === requirement.scheme)).length,
  }))
  return { plan, drafts, security }
}

function checkRequest({ document, url, server, headers = {} }: ImportRequest): void {
  if ((document === undefined) === (url === undefined)) throw createValidationError('document', 'or url is required, but not both')
  if (server !== undefined && /[{}?#]/.test(server))
    throw createValidationError('server', 'must be a URL without placeholders, query or fragment')
  if (server !== undefined) parseHttpUrl('server', server, 'Send it as credentials.')
  checkHeaderNames(headers)
}

function getDocumentText(document: ImportRequest['document']): string {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) throw createTooLargeError('document')
  return text
}

async function fetchDocument(
  { url = '', allow_private_network }: ImportRequest,
  outbound: Outbound,
): Promise<{ text: string; documentUrl: string }> {
  const headers = { accept: 'application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5' }
  const response = await outbound.request(url, { headers, allowPrivateNetwork: allow_private_network, maxBytes: MAX_DOCUMENT_BYTES })
  if (response.status !== 200)
    throw new CadreError(
      'PROVIDER_ERROR',
      `${new URL(response.url).host} responded with status ${response.status} instead of the document.`,
    )
  if (response.truncated) throw createTooLargeError('url')
  return { text: Buffer.from(response.body).toString('utf8'), documentUrl: response.url }
}

const createTooLargeError = (field: string) =>
  new CadreError('PAYLOAD_TOO_LARGE', `${field}: must be smaller than 5 MB.`, {
    details: [{ field, problem: 'must be smaller than 5 MB' }],
  })

export function buildCreate({ planned, credentials: { headers, auth } }: ToolDraft, request: ImportRequest): Static<typeof ApiToolCreate> {
  const allHeaders = { ...createContentTypeHeader(planned), ...request.headers, ...headers }
  return {
    name: planned.name,
    ...pickToolFields(planned, request),
    auth,
    ...(Object.keys(allHeaders).length > 0 ? { headers: allHeaders } : {}),
  }
}

/** Changed fields of an existing tool; secrets only if new ones were given. Permissions are valid for one method and URL. */
export function buildUpdate(draft: ToolDraft, request: ImportRequest, current: StoredApiTool): Partial<Static<typeof ApiToolCreate>> {
  const { planned, credentials } = draft
  const headers = { ...request.headers, ...credentials.headers }
  const changed = Object.entries(pickToolFields(planned, request)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(current[name as keyof StoredApiTool]),
  )
  const { allow_private_network = false, requires_confirmation } = request
  const permissions = { allow_private_network, ...(requires_confirmation === undefined ? {} : { requires_confirmation }) }
  return {
    ...Object.fromEntries(changed),
    ...(hasNewRequest(current, planned) ? permissions : {}),
    ...(credentials.auth.type === 'none' ? {} : { auth: credentials.auth }),
    ...(Object.keys(headers).length > 0 ? { headers: { ...createContentTypeHeader(planned), ...headers } } : {}),
  }
}

/** Fields from the document and settings from the request, if given. */
function pickToolFields(planned: PlannedTool, { timeout_ms, allow_private_network, requires_confirmation }: ImportRequest) {
  const { description, method, url, parameters, locations, body_format } = planned
  return {
    ...{ description, method, url, parameters, locations, body_format },
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
    ...(allow_private_network === undefined ? {} : { allow_private_network }),
    ...(requires_confirmation === undefined ? {} : { requires_confirmation }),
  }
}

const createContentTypeHeader = ({ contentType: type }: PlannedTool): Record<string, string> =>
  type === undefined ? {} : { 'Content-Type': type }

/** Finds the existing tool to update; throws if it must not be updated. */
export function findToolToUpdate(
  { name, url }: PlannedTool,
  candidates: readonly StoredApiTool[],
  mayUpdate: boolean,
): StoredApiTool | undefined {
  const [current, another] = candidates
  if (current === undefined) return undefined
  const conflict = (problem: string, hint: string) => new CadreError('CONFLICT', `The API tool "${name}" ${problem}.`, { hint })
  if (!mayUpdate) throw conflict('already exists', 'Update it with update (--update), or choose other names with prefix (--prefix).')
  if (another) throw conflict('exists more than once', 'Delete or rename all but one.')
  if (checkUrlTemplate(current.url) !== checkUrlTemplate(url))
    throw conflict(
      'calls another server',
      'Its secrets are not sent to other servers: choose another name with prefix (--prefix), or delete it first.',
    )
  return current
}

export function reportTool(
  { planned, credentials: { auth, missing } }: ToolDraft,
  action: ImportedTool['action'],
  tool: StoredApiTool,
  previous = tool,
): ImportedTool {
  const { operation, name, description, method, url, parameters, locations, body_format, notes } = planned
  const missingCredentials = missing === undefined || tool.auth.type !== 'none' ? [] : [missing]
  const allNotes = [...notes, ...missingCredentials, ...listLostPermissions(previous, tool)].map(
    (note) => `${note.replace(/^./, (letter) => letter.toUpperCase())}.`,
  )
  const keepsAuth = action !== 'create' && auth.type === 'none' && tool.auth.type !== 'none'
  return {
    ...{ operation, action, id: tool.id, name, description, method, url, parameters, locations, body_format },
    requires_confirmation: tool.requires_confirmation,
    auth: keepsAuth ? 'kept' : auth.type,
    notes: allNotes,
  }
}

function listLostPermissions(previous: StoredApiTool, tool: StoredApiTool): string[] {
  const lost = [
    ...(tool.requires_confirmation && !previous.requires_confirmation ? ['calls require confirmation again'] : []),
    ...(previous.allow_private_network && !tool.allow_private_network ? ['it has no access to the private network any more'] : []),
  ]
  return lost.map((what) => `${what}, because its method or URL changed`)
}
