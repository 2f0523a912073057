/** What imported tools prove themselves with, out of what the caller gave and what their document asks for. */

import { createValidationError } from '../../src/contract/errors.ts'
import type { ApiToolSecrets } from '../../src/contract/families/api-tools.ts'
import { suggestWord } from '../../src/contract/suggest.ts'
import type { Proof } from './openapi/security.ts'

type Credentials = Readonly<Record<string, string>>

/** Authentication and headers for one tool; `missing` where nothing that was given is enough. */
export interface Proven extends ApiToolSecrets {
  missing: string | undefined
}

const KINDS = ['bearer', 'basic', 'api_key']
const NOTHING: ApiToolSecrets = { headers: {}, auth: { type: 'none' } }

/** Refuses credentials that belong to nothing, or to more than one thing. */
export function checkCredentials(credentials: Credentials, securities: readonly Proof[][][]): void {
  const proofs = new Map(securities.flat(2).map((proof) => [proof.scheme, proof]))
  for (const [name, value] of Object.entries(credentials)) {
    const field = `credentials.${name}`
    const kind = proofs.get(name)?.kind ?? name
    if (!proofs.has(name) && !KINDS.includes(name)) {
      const near = suggestWord(name, [...KINDS, ...proofs.keys()])
      throw createValidationError(
        field,
        'is neither bearer, basic or api_key nor a security scheme of the document',
        near && `Did you mean "${near}"?`,
      )
    }
    if (kind === 'basic' && !value.includes(':')) throw createValidationError(field, 'must be user:password')
    if (name !== 'api_key' || proofs.has(name)) continue
    const keys = [...proofs.values()].filter((proof) => proof.kind === 'api_key')
    if (keys.length === 0)
      throw createValidationError(
        field,
        'has no place: the document does not say where a key goes',
        'Send it as one of the headers instead.',
      )
    if (keys.length > 1)
      throw createValidationError(
        field,
        'could be any of several keys',
        `Name the one you mean: ${keys.map(({ scheme }) => scheme).join(', ')}.`,
      )
  }
}

/** The first alternative that everything was given for. A document that says nothing of proofs is taken to want what was given. */
export function proven(security: readonly Proof[][], credentials: Credentials, saysNothing: boolean): Proven {
  if (saysNothing)
    return {
      ...together(
        KINDS.slice(0, 2).flatMap((kind) => (credentials[kind] ? [{ scheme: kind, kind: kind as 'bearer' }] : [])),
        credentials,
      ),
      missing: undefined,
    }
  const able = security.find(
    (alternative) =>
      alternative.length > 0 && alternative.every((proof) => valueFor(proof, credentials) !== undefined) && fits(alternative),
  )
  if (able) return { ...together(able, credentials), missing: undefined }
  const free = security.length === 0 || security.some((alternative) => alternative.length === 0)
  const wanted = security.map((alternative) =>
    alternative.map(({ scheme, kind }) => (kind === 'other' ? `${scheme}, which tools cannot do` : `${scheme} (${kind})`)).join(' and '),
  )
  return { ...NOTHING, missing: free ? undefined : `it is called without the ${wanted.join(' or ')} that it asks for` }
}

export const valueFor = ({ scheme, kind }: Proof, credentials: Credentials): string | undefined =>
  kind === 'other' ? undefined : Object.hasOwn(credentials, scheme) ? credentials[scheme] : credentials[kind]

/** A tool has one place for authentication; more proofs must go to headers. */
const fits = (alternative: readonly Proof[]): boolean => alternative.filter(({ in: place }) => place === 'query').length <= 1

function together(alternative: readonly Proof[], credentials: Credentials): ApiToolSecrets {
  const secrets: ApiToolSecrets = { headers: {}, auth: { type: 'none' } }
  // A key of the query can go nowhere else.
  const ordered = [...alternative].sort((one, other) => Number(other.in === 'query') - Number(one.in === 'query'))
  for (const proof of ordered) {
    const value = valueFor(proof, credentials) as string
    const [header, content] = headerOf(proof, value)
    if (secrets.auth.type === 'none' && proof.in !== 'cookie') secrets.auth = authOf(proof, value)
    else secrets.headers[header] = secrets.headers[header] === undefined ? content : `${secrets.headers[header]}; ${content}`
  }
  return secrets
}

function authOf({ kind, name = '', in: place }: Proof, value: string): ApiToolSecrets['auth'] {
  if (kind === 'bearer') return { type: 'bearer', token: value }
  if (kind === 'api_key') return { type: 'api_key', name, value, in: place === 'query' ? 'query' : 'header' }
  const at = value.indexOf(':')
  return { type: 'basic', username: value.slice(0, at), password: value.slice(at + 1) }
}

function headerOf({ kind, name = '', in: place }: Proof, value: string): [string, string] {
  if (kind === 'bearer') return ['Authorization', `Bearer ${value}`]
  if (kind === 'basic') return ['Authorization', `Basic ${Buffer.from(value).toString('base64')}`]
  return place === 'cookie' ? ['Cookie', `${name}=${encodeURIComponent(value)}`] : [name, value]
}
