/** Matches the credentials of an import request with the security schemes of the document. */
import { createValidationError } from '../../src/contract/errors.ts'
import type { ApiToolSecrets } from '../../src/contract/families/api-tools.ts'
import { suggestWord } from '../../src/contract/suggest.ts'
import type { SecurityRequirement } from './openapi/list-security.ts'

type Credentials = Readonly<Record<string, string>>

/** Authentication and headers of one tool; `missing` explains which credentials are missing. */
export interface MatchedCredentials extends ApiToolSecrets {
  missing: string | undefined
}

const CREDENTIAL_KINDS = ['bearer', 'basic', 'api_key']
const NO_SECRETS: ApiToolSecrets = { headers: {}, auth: { type: 'none' } }

/** Rejects credentials that match no scheme, or more than one. */
export function checkCredentials(credentials: Credentials, securities: readonly SecurityRequirement[][][]): void {
  const requirements = new Map(securities.flat(2).map((requirement) => [requirement.scheme, requirement]))
  for (const [name, value] of Object.entries(credentials)) {
    const field = `credentials.${name}`
    const kind = requirements.get(name)?.kind ?? name
    if (!requirements.has(name) && !CREDENTIAL_KINDS.includes(name)) {
      const suggestion = suggestWord(name, [...CREDENTIAL_KINDS, ...requirements.keys()])
      throw createValidationError(
        field,
        'is neither bearer, basic or api_key nor a security scheme of the document',
        suggestion && `Did you mean "${suggestion}"?`,
      )
    }
    if (kind === 'basic' && !value.includes(':')) throw createValidationError(field, 'must be user:password')
    if (name !== 'api_key' || requirements.has(name)) continue
    const keys = [...requirements.values()].filter((requirement) => requirement.kind === 'api_key')
    if (keys.length === 0)
      throw createValidationError(field, 'cannot be used: the document declares no API key', 'Send it as one of the headers instead.')
    if (keys.length > 1)
      throw createValidationError(
        field,
        'is ambiguous: the document declares several API keys',
        `Use the name of a scheme: ${keys.map(({ scheme }) => scheme).join(', ')}.`,
      )
  }
}

/** Uses the first alternative with complete credentials. If the document declares no security, all given credentials are used. */
export function matchCredentials(
  security: readonly SecurityRequirement[][],
  credentials: Credentials,
  hasNoSecurity: boolean,
): MatchedCredentials {
  if (hasNoSecurity) {
    const given = (['bearer', 'basic'] as const).filter((kind) => credentials[kind]).map((kind) => ({ scheme: kind, kind }))
    return { ...combineSecrets(given, credentials), missing: undefined }
  }
  const match = security.find(
    (alternative) =>
      alternative.length > 0 &&
      alternative.every((requirement) => findCredential(requirement, credentials) !== undefined) &&
      fitsOneTool(alternative),
  )
  if (match) return { ...combineSecrets(match, credentials), missing: undefined }
  const free = security.length === 0 || security.some((alternative) => alternative.length === 0)
  const wanted = security.map((alternative) =>
    alternative.map(({ scheme, kind }) => (kind === 'other' ? `${scheme}, which is not supported` : `${scheme} (${kind})`)).join(' and '),
  )
  return { ...NO_SECRETS, missing: free ? undefined : `it is called without the required credentials: ${wanted.join(' or ')}` }
}

export const findCredential = ({ scheme, kind }: SecurityRequirement, credentials: Credentials): string | undefined =>
  kind === 'other' ? undefined : Object.hasOwn(credentials, scheme) ? credentials[scheme] : credentials[kind]

/** A tool has one `auth`; further credentials must be headers. */
const fitsOneTool = (alternative: readonly SecurityRequirement[]): boolean =>
  alternative.filter(({ in: place }) => place === 'query').length <= 1

function combineSecrets(alternative: readonly SecurityRequirement[], credentials: Credentials): ApiToolSecrets {
  const secrets: ApiToolSecrets = { headers: {}, auth: { type: 'none' } }
  // A query parameter is possible in `auth` only.
  const ordered = [...alternative].sort((one, other) => Number(other.in === 'query') - Number(one.in === 'query'))
  for (const requirement of ordered) {
    const value = findCredential(requirement, credentials) as string
    const [header, content] = createHeader(requirement, value)
    if (secrets.auth.type === 'none' && requirement.in !== 'cookie') secrets.auth = createAuth(requirement, value)
    else secrets.headers[header] = secrets.headers[header] === undefined ? content : `${secrets.headers[header]}; ${content}`
  }
  return secrets
}

function createAuth({ kind, name = '', in: place }: SecurityRequirement, value: string): ApiToolSecrets['auth'] {
  if (kind === 'bearer') return { type: 'bearer', token: value }
  if (kind === 'api_key') return { type: 'api_key', name, value, in: place === 'query' ? 'query' : 'header' }
  const at = value.indexOf(':')
  return { type: 'basic', username: value.slice(0, at), password: value.slice(at + 1) }
}

function createHeader({ kind, name = '', in: place }: SecurityRequirement, value: string): [string, string] {
  if (kind === 'bearer') return ['Authorization', `Bearer ${value}`]
  if (kind === 'basic') return ['Authorization', `Basic ${Buffer.from(value).toString('base64')}`]
  return place === 'cookie' ? ['Cookie', `${name}=${encodeURIComponent(value)}`] : [name, value]
}
