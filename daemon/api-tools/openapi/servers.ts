/** Where the operations of a document are called. */
import { Inexpressible, isObject, type JsonObject, listOf, objectOf, textOf, Unusable } from './json.ts'
import type { Operation } from './operations.ts'

export interface ServerChoice {
  /** Instead of whatever the document says. */
  server?: string | undefined
  variables: Readonly<Record<string, string>>
  /** Where the document came from: its servers may be given relative to that. */
  documentUrl?: string | undefined
}

/** The base address of an operation, without a slash at its end. */
export function serverOf({ own, item }: Operation, root: JsonObject, { server, variables, documentUrl }: ServerChoice): string {
  if (server !== undefined) return withoutSlash(server)
  const [first] = [own.servers, item.servers, root.servers].map(listOf).find((list) => list.length > 0) ?? []
  const { url, variables: declared } = objectOf(first)
  const given = textOf(url) || '/'
  const filled = given.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => variable(name, objectOf(declared)[name], variables))
  if (/^https?:\/\//i.test(filled)) return withoutSlash(filled)
  if (documentUrl === undefined)
    throw new Unusable(
      `the document does not say where the API is${given === '/' ? '' : `, only that it is at ${given.slice(0, 100)} there`}`,
      {
        field: 'server',
        hint: `Give its base address: --server https://api.example.com${filled === '/' ? '' : filled.slice(0, 100)} ("server" in a request).`,
      },
    )
  if (!URL.canParse(filled, documentUrl)) throw new Inexpressible(`its server ${filled.slice(0, 100)} is no address`)
  return withoutSlash(new URL(filled, documentUrl).href)
}

function variable(name: string, declared: unknown, given: Readonly<Record<string, string>>): string {
  const { default: usual, enum: values } = objectOf(declared)
  const value = Object.hasOwn(given, name) ? given[name] : isObject(declared) && usual !== undefined ? String(usual) : undefined
  if (value === undefined)
    throw new Unusable(`its server needs a value for {${name.slice(0, 50)}}`, {
      field: 'server_variables',
      hint: `Give it: --server-variable ${name.slice(0, 50)}=…`,
    })
  const allowed = listOf(values).map(String)
  if (allowed.length > 0 && !allowed.includes(value))
    throw new Inexpressible(`${name} of its server is one of ${allowed.slice(0, 20).join(', ')}, not ${value.slice(0, 50)}`)
  return value
}

const withoutSlash = (address: string): string => address.replace(/[?#].*$/s, '').replace(/\/+$/, '')
