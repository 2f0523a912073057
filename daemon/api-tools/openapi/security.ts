/** How an operation wants to be proven who calls: alternatives, of which each may want several proofs at once. */
import { TOKEN } from '../request.ts'
import { isObject, type JsonObject, listOf, objectOf, ownOf, textOf } from './json.ts'
import type { References } from './references.ts'

export interface Proof {
  /** Its name in the document. */
  scheme: string
  kind: 'bearer' | 'basic' | 'api_key' | 'other'
  /** Where a key goes. */
  name?: string
  in?: 'header' | 'query' | 'cookie'
}

/** An alternative without proofs means that none is needed. */
export function securityOf(operation: JsonObject, root: JsonObject, references: References): Proof[][] {
  const required = Array.isArray(operation.security) ? operation.security : listOf(root.security)
  const schemes = objectOf(objectOf(root.components).securitySchemes)
  return required.slice(0, 20).map((alternative) =>
    Object.keys(objectOf(alternative))
      .slice(0, 10)
      .map((scheme) => proof(scheme, ownOf(schemes, scheme), references)),
  )
}

function proof(scheme: string, declared: unknown, references: References): Proof {
  const { type, scheme: http, in: place, name } = isObject(declared) ? references.resolved(declared) : {}
  if (type === 'http') {
    const word = textOf(http).toLowerCase()
    return { scheme, kind: word === 'basic' || word === 'bearer' ? word : 'other' }
  }
  // What these hand out is sent as a bearer token in the end; fetching one is not done here.
  if (type === 'oauth2' || type === 'openIdConnect') return { scheme, kind: 'bearer' }
  const known = place === 'header' || place === 'query' || place === 'cookie'
  if (type === 'apiKey' && known && TOKEN.test(textOf(name))) return { scheme, kind: 'api_key', name: textOf(name), in: place }
  return { scheme, kind: 'other' }
}
