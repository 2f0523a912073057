/** Lists the security requirements of an operation: alternatives, each of which may combine several schemes. */
import { HTTP_TOKEN } from '../build-request.ts'
import { getOwn, isObject, type JsonObject, toList, toObject, toText } from './json.ts'
import type { ReferenceResolver } from './reference-resolver.ts'

export interface SecurityRequirement {
  /** Name of the scheme in the document. */
  scheme: string
  kind: 'bearer' | 'basic' | 'api_key' | 'other'
  /** Name and location of an API key. */
  name?: string
  in?: 'header' | 'query' | 'cookie'
}

/** An empty alternative means that no credentials are needed. */
export function listSecurity(operation: JsonObject, root: JsonObject, references: ReferenceResolver): SecurityRequirement[][] {
  const required = Array.isArray(operation.security) ? operation.security : toList(root.security)
  const schemes = toObject(toObject(root.components).securitySchemes)
  return required.slice(0, 20).map((alternative) =>
    Object.keys(toObject(alternative))
      .slice(0, 10)
      .map((scheme) => convertScheme(scheme, getOwn(schemes, scheme), references)),
  )
}

function convertScheme(scheme: string, declared: unknown, references: ReferenceResolver): SecurityRequirement {
  const { type, scheme: http, in: place, name } = isObject(declared) ? references.resolve(declared) : {}
  if (type === 'http') {
    const word = toText(http).toLowerCase()
    return { scheme, kind: word === 'basic' || word === 'bearer' ? word : 'other' }
  }
  // Their tokens are sent as bearer tokens; fetching one is not supported.
  if (type === 'oauth2' || type === 'openIdConnect') return { scheme, kind: 'bearer' }
  const known = place === 'header' || place === 'query' || place === 'cookie'
  if (type === 'apiKey' && known && HTTP_TOKEN.test(toText(name))) return { scheme, kind: 'api_key', name: toText(name), in: place }
  return { scheme, kind: 'other' }
}
