/** From arguments to the request: each goes to its place, and none to the place of a header or key that is kept for the tool. */

import { createValidationError } from '../../src/contract/errors.ts'
import type { ApiToolSecrets, ArgumentLocation } from '../../src/contract/families/api-tools.ts'
import { CONNECTION_HEADERS } from '../outbound/address.ts'
import { authorizationOf } from '../outbound/authorization.ts'
import type { StoredApiTool } from './store.ts'
import { encoded, filledUrl, placeholdersOf } from './url-template.ts'

export interface ToolRequest {
  url: URL
  method: string
  headers: Record<string, string>
  body: string | undefined
}

type Arguments = Readonly<Record<string, unknown>>
type Pair = readonly [name: string, value: string]

/** Headers that say who is calling, or how the body is to be read: never an argument's to decide. */
export const RESERVED_HEADERS: readonly string[] = [
  ...CONNECTION_HEADERS,
  'authorization',
  'cookie',
  'content-type',
  'content-encoding',
  'accept',
]
/** What names of headers and cookies are made of. */
export const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,200}$/
const ACCEPT = 'application/json, text/*;q=0.9, */*;q=0.1'
const FORM = 'application/x-www-form-urlencoded'

/** Refuses places that arguments cannot go to. */
export function checkLocations({ locations, parameters, method, url }: StoredApiTool): void {
  const properties = (parameters.properties ?? {}) as object
  const inUrl = placeholdersOf(url)
  for (const [argument, { in: place, name = argument }] of Object.entries(locations)) {
    const field = `locations.${argument}`
    if (!Object.hasOwn(properties, argument)) throw createValidationError(field, 'is no argument', 'Add it to parameters.properties.')
    if (inUrl.includes(argument)) throw createValidationError(field, 'is in the url already')
    if (place === 'header' && (RESERVED_HEADERS.includes(name.toLowerCase()) || !TOKEN.test(name)))
      throw createValidationError(field, `the header ${name} cannot be an argument`)
    if (place === 'cookie' && !TOKEN.test(name)) throw createValidationError(field, `${name} is no name of a cookie`)
    if (method === 'GET' && (place === 'body' || place === 'whole_body')) throw createValidationError(field, 'a GET request has no body')
  }
  const whole = Object.entries(locations).filter(([, { in: place }]) => place === 'whole_body')
  const [first] = whole
  if (first && (whole.length > 1 || goesTo({ locations, parameters, method, url }, 'body').length > 0))
    throw createValidationError(`locations.${first[0]}`, 'is the whole body, so no other argument can go there')
}

/** The declared arguments whose place this is. */
function goesTo(tool: Pick<StoredApiTool, 'locations' | 'parameters' | 'method' | 'url'>, place: ArgumentLocation['in']): string[] {
  const inUrl = placeholdersOf(tool.url)
  return Object.keys((tool.parameters.properties ?? {}) as object).filter(
    (name) => !inUrl.includes(name) && destinationOf(tool, name).in === place,
  )
}

function destinationOf({ locations, method }: Pick<StoredApiTool, 'locations' | 'method'>, argument: string): ArgumentLocation {
  return (Object.hasOwn(locations, argument) && locations[argument]) || { in: method === 'GET' || method === 'DELETE' ? 'query' : 'body' }
}

export function requestOf(tool: StoredApiTool, { headers: kept, auth }: ApiToolSecrets, args: Arguments): ToolRequest {
  const inUrl = placeholdersOf(tool.url)
  const rest = Object.entries(args).filter(([name]) => !inUrl.includes(name))
  const placed = rest.map(([argument, value]) => ({ argument, value, name: argument, ...destinationOf(tool, argument) }))
  const at = (place: ArgumentLocation['in']) => placed.filter((one) => one.in === place && one.value !== null && one.value !== undefined)
  const url = filledUrl(tool.url, args)
  const query = at('query').flatMap(pairs)
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(kept)) headers[name.toLowerCase()] = value
  for (const { argument, name, value } of at('header')) {
    if (headers[name.toLowerCase()] !== undefined || (auth.type === 'api_key' && auth.name.toLowerCase() === name.toLowerCase()))
      throw createValidationError(`arguments.${argument}`, `the header ${name} is kept for the tool itself`)
    headers[name.toLowerCase()] = headerText(argument, value)
  }
  const cookies = at('cookie').map(({ argument, name, value }) => `${name}=${encoded(argument, flat(value))}`)
  if (cookies.length > 0) headers.cookie = [headers.cookie, ...cookies].filter(Boolean).join('; ')
  const body = bodyOf(tool, placed, args)
  if (body !== undefined) headers['content-type'] = tool.body_format === 'form' ? FORM : (headers['content-type'] ?? 'application/json')
  headers.accept ??= ACCEPT
  if (auth.type === 'bearer' || auth.type === 'basic') headers.authorization = authorizationOf(auth)
  if (auth.type === 'api_key' && auth.in !== 'query') headers[auth.name.toLowerCase()] = auth.value
  if (auth.type === 'api_key' && auth.in === 'query') {
    if (query.some(([name]) => name === auth.name)) throw createValidationError(`arguments.${auth.name}`, 'is kept for the tool itself')
    query.push([auth.name, encodeURIComponent(auth.value)])
  }
  const added = query.map(([name, value]) => `${encoded(name, name)}=${value}`).join('&')
  if (added !== '') url.search = url.search === '' ? added : `${url.search}&${added}`
  return { url, method: tool.method, headers, body }
}

interface Placed extends ArgumentLocation {
  argument: string
  name: string
  value: unknown
}

function bodyOf(tool: StoredApiTool, placed: readonly Placed[], args: Arguments): string | undefined {
  const whole = placed.find((one) => one.in === 'whole_body')
  const fields = placed.filter((one) => one.in === 'body')
  if (!whole && fields.length === 0 && (tool.method === 'GET' || goesTo(tool, 'body').length === 0)) return undefined
  if (whole && args[whole.argument] === undefined) return undefined
  if (tool.body_format === 'json')
    return JSON.stringify(whole ? whole.value : Object.fromEntries(fields.map(({ name, value }) => [name, value])))
  const list = whole ? Object.entries((whole.value ?? {}) as object).map(([name, value]) => ({ ...whole, name, value })) : fields
  const given = list.filter(({ value }) => value !== null && value !== undefined)
  return given
    .flatMap(pairs)
    .map(([name, value]) => `${encoded(name, name)}=${value}`)
    .join('&')
}

/** A value of the query or of a form as names and encoded values, in its style. */
function pairs({ argument, name, value, style = 'repeat' }: Placed): Pair[] {
  if (value === null || value === undefined) return []
  if (style === 'json') return [[name, encoded(argument, JSON.stringify(value))]]
  if (Array.isArray(value)) {
    if (style === 'comma') return [[name, value.map((item) => encoded(argument, flat(item))).join(',')]]
    if (style === 'brackets') return value.flatMap((item) => pairs({ in: 'query', argument, name: `${name}[]`, value: item, style }))
    return value.filter((item) => item !== null).map((item) => [name, encoded(argument, flat(item))])
  }
  if (typeof value === 'object' && style === 'brackets')
    return Object.entries(value).flatMap(([key, item]) => pairs({ in: 'query', argument, name: `${name}[${key}]`, value: item, style }))
  return [[name, encoded(argument, flat(value))]]
}

const flat = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** Headers hold visible ASCII; a line break would begin another header. */
function headerText(argument: string, value: unknown): string {
  const text = Array.isArray(value) ? value.map(flat).join(', ') : flat(value)
  if (!/^[\x20-\x7e]*$/.test(text))
    throw createValidationError(`arguments.${argument}`, 'must be plain ASCII text without line breaks: it is sent as a header')
  return text
}
