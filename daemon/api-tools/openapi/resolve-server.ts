/** Resolves the base URL of an operation. */
import { InvalidDocumentError, isObject, type JsonObject, toList, toObject, toText, UnsupportedOperationError } from './json.ts'
import type { Operation } from './operations.ts'

export interface ServerChoice {
  /** Overrides the document. */
  server?: string | undefined
  variables: Readonly<Record<string, string>>
  /** URL of the document: its servers may be relative to it. */
  documentUrl?: string | undefined
}

/** The result has no trailing slash. */
export function resolveServer(
  { definition, pathItem }: Operation,
  root: JsonObject,
  { server, variables, documentUrl }: ServerChoice,
): string {
  if (server !== undefined) return trimTrailingSlash(server)
  const [first] = [definition.servers, pathItem.servers, root.servers].map(toList).find((list) => list.length > 0) ?? []
  const { url, variables: declared } = toObject(first)
  const serverUrl = toText(url) || '/'
  const filled = serverUrl.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => resolveVariable(name, toObject(declared)[name], variables))
  if (/^https?:\/\//i.test(filled)) return trimTrailingSlash(filled)
  if (documentUrl === undefined)
    throw new InvalidDocumentError(
      `the document has no absolute server URL${serverUrl === '/' ? '' : `, only ${serverUrl.slice(0, 100)}`}`,
      {
        field: 'server',
        hint: `Set the base URL: --server https://api.example.com${filled === '/' ? '' : filled.slice(0, 100)} ("server" in a request).`,
      },
    )
  if (!URL.canParse(filled, documentUrl)) throw new UnsupportedOperationError(`its server ${filled.slice(0, 100)} is not a valid URL`)
  return trimTrailingSlash(new URL(filled, documentUrl).href)
}

function resolveVariable(name: string, declared: unknown, values: Readonly<Record<string, string>>): string {
  const { default: defaultValue, enum: allowedValues } = toObject(declared)
  const value = Object.hasOwn(values, name)
    ? values[name]
    : isObject(declared) && defaultValue !== undefined
      ? String(defaultValue)
      : undefined
  if (value === undefined)
    throw new InvalidDocumentError(`its server needs a value for {${name.slice(0, 50)}}`, {
      field: 'server_variables',
      hint: `Set it: --server-variable ${name.slice(0, 50)}=…`,
    })
  const allowed = toList(allowedValues).map(String)
  if (allowed.length > 0 && !allowed.includes(value))
    throw new UnsupportedOperationError(`${name} of its server is one of ${allowed.slice(0, 20).join(', ')}, not ${value.slice(0, 50)}`)
  return value
}

const trimTrailingSlash = (address: string): string => address.replace(/[?#].*$/s, '').replace(/\/+$/, '')
