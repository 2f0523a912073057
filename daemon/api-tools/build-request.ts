/** Builds the HTTP request of an API tool from its arguments; arguments cannot replace the tool's own headers and keys. */

import { createValidationError } from '../../src/contract/errors.ts'
import type { ApiToolSecrets, ArgumentLocation } from '../../src/contract/families/api-tools.ts'
import { formatAuthorization } from '../outbound/authorization.ts'
import { CONNECTION_HEADERS } from '../outbound/parse-url.ts'
import type { StoredApiTool } from './store.ts'
import { encodeArgument, fillUrl, listPlaceholders } from './url-template.ts'

interface ApiRequest {
  url: URL
  method: string
  headers: Record<string, string>
  body: string | undefined
}

type Arguments = Readonly<Record<string, unknown>>
type Pair = readonly [name: string, value: string]

/** Headers that identify the caller or describe the body: arguments cannot set them. */
export const RESERVED_HEADERS = [...CONNECTION_HEADERS, ...['authorization', 'cookie', 'content-type', 'content-encoding', 'accept']]
/** Valid names of headers and cookies. */
export const HTTP_TOKEN = /^[\w!#$%&'*+.^`|~-]{1,200}$/
const DEFAULT_ACCEPT = 'application/json, text/*;q=0.9, */*;q=0.1'
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Rejects invalid locations of arguments. */
export function checkLocations({ locations, parameters, method, url }: StoredApiTool): void {
  const properties = (parameters.properties ?? {}) as object
  const inUrl = listPlaceholders(url)
  for (const [argument, { in: place, name = argument }] of Object.entries(locations)) {
    const field = `locations.${argument}`
    if (!Object.hasOwn(properties, argument)) throw createValidationError(field, 'is not an argument', 'Add it to parameters.properties.')
    if (inUrl.includes(argument)) throw createValidationError(field, 'is already part of the url')
    if (place === 'header' && (RESERVED_HEADERS.includes(name.toLowerCase()) || !HTTP_TOKEN.test(name)))
      throw createValidationError(field, `the header ${name} cannot be an argument`)
    if (place === 'cookie' && !HTTP_TOKEN.test(name)) throw createValidationError(field, `${name} is not a valid cookie name`)
    if (method === 'GET' && (place === 'body' || place === 'whole_body')) throw createValidationError(field, 'a GET request has no body')
  }
  const whole = Object.entries(locations).filter(([, { in: place }]) => place === 'whole_body')
  const [first] = whole
  if (first && (whole.length > 1 || listArgumentsIn({ locations, parameters, method, url }, 'body').length > 0))
    throw createValidationError(`locations.${first[0]}`, 'is the whole body, so no other argument can be in the body')
}

function listArgumentsIn(
  tool: Pick<StoredApiTool, 'locations' | 'parameters' | 'method' | 'url'>,
  place: ArgumentLocation['in'],
): string[] {
  const inUrl = listPlaceholders(tool.url)
  return Object.keys((tool.parameters.properties ?? {}) as object).filter(
    (name) => !inUrl.includes(name) && getDestination(tool, name).in === place,
  )
}

function getDestination({ locations, method }: Pick<StoredApiTool, 'locations' | 'method'>, argument: string): ArgumentLocation {
  return (Object.hasOwn(locations, argument) && locations[argument]) || { in: method === 'GET' || method === 'DELETE' ? 'query' : 'body' }
}

export function buildRequest(tool: StoredApiTool, { headers: toolHeaders, auth }: ApiToolSecrets, args: Arguments): ApiRequest {
  const inUrl = listPlaceholders(tool.url)
  const rest = Object.entries(args).filter(([name]) => !inUrl.includes(name))
  const placed = rest.map(([argument, value]) => ({ argument, value, name: argument, ...getDestination(tool, argument) }))
  const at = (place: ArgumentLocation['in']) =>
    placed.filter((entry) => entry.in === place && entry.value !== null && entry.value !== undefined)
  const url = fillUrl(tool.url, args)
  const query = at('query').flatMap(encodePairs)
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(toolHeaders)) headers[name.toLowerCase()] = value
  for (const { argument, name, value } of at('header')) {
    if (headers[name.toLowerCase()] !== undefined || (auth.type === 'api_key' && auth.name.toLowerCase() === name.toLowerCase()))
      throw createValidationError(`arguments.${argument}`, `the header ${name} is reserved for the tool itself`)
    headers[name.toLowerCase()] = formatHeader(argument, value)
  }
  const cookies = at('cookie').map(({ argument, name, value }) => `${name}=${encodeArgument(argument, formatValue(value))}`)
  if (cookies.length > 0) headers.cookie = [headers.cookie, ...cookies].filter(Boolean).join('; ')
  const body = buildBody(tool, placed, args)
  if (body !== undefined)
    headers['content-type'] = tool.body_format === 'form' ? FORM_TYPE : (headers['content-type'] ?? 'application/json')
  headers.accept ??= DEFAULT_ACCEPT
  if (auth.type === 'bearer' || auth.type === 'basic') headers.authorization = formatAuthorization(auth)
  if (auth.type === 'api_key' && auth.in !== 'query') headers[auth.name.toLowerCase()] = auth.value
  if (auth.type === 'api_key' && auth.in === 'query') {
    if (query.some(([name]) => name === auth.name)) throw createValidationError(`arguments.${auth.name}`, 'is reserved for the tool itself')
    query.push([auth.name, encodeURIComponent(auth.value)])
  }
  const added = query.map(([name, value]) => `${encodeArgument(name, name)}=${value}`).join('&')
  if (added !== '') url.search = url.search === '' ? added : `${url.search}&${added}`
  return { url, method: tool.method, headers, body }
}

interface PlacedArgument extends ArgumentLocation {
  argument: string
  name: string
  value: unknown
}

function buildBody(tool: StoredApiTool, placed: readonly PlacedArgument[], args: Arguments): string | undefined {
  const whole = placed.find((entry) => entry.in === 'whole_body')
  const fields = placed.filter((entry) => entry.in === 'body')
  if (!whole && fields.length === 0 && (tool.method === 'GET' || listArgumentsIn(tool, 'body').length === 0)) return undefined
  if (whole && args[whole.argument] === undefined) return undefined
  if (tool.body_format === 'json')
    return JSON.stringify(whole ? whole.value : Object.fromEntries(fields.map(({ name, value }) => [name, value])))
  const list = whole ? Object.entries((whole.value ?? {}) as object).map(([name, value]) => ({ ...whole, name, value })) : fields
  const present = list.filter(({ value }) => value !== null && value !== undefined)
  return present
    .flatMap(encodePairs)
    .map(([name, value]) => `${encodeArgument(name, name)}=${value}`)
    .join('&')
}

/** Encodes a value of a query or form in its style. */
function encodePairs({ argument, name, value, style = 'repeat' }: PlacedArgument): Pair[] {
  if (value === null || value === undefined) return []
  if (style === 'json') return [[name, encodeArgument(argument, JSON.stringify(value))]]
  if (Array.isArray(value)) {
    if (style === 'comma') return [[name, value.map((item) => encodeArgument(argument, formatValue(item))).join(',')]]
    if (style === 'brackets') return value.flatMap((item) => encodePairs({ in: 'query', argument, name: `${name}[]`, value: item, style }))
    return value.filter((item) => item !== null).map((item) => [name, encodeArgument(argument, formatValue(item))])
  }
  if (typeof value === 'object' && style === 'brackets')
    return Object.entries(value).flatMap(([key, item]) =>
      encodePairs({ in: 'query', argument, name: `${name}[${key}]`, value: item, style }),
    )
  return [[name, encodeArgument(argument, formatValue(value))]]
}

const formatValue = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** A line break would start another header. */
function formatHeader(argument: string, value: unknown): string {
  const text = Array.isArray(value) ? value.map(formatValue).join(', ') : formatValue(value)
  if (!/^[\x20-\x7e]*$/.test(text))
    throw createValidationError(`arguments.${argument}`, 'must be plain ASCII text without line breaks: it is sent as a header')
  return text
}
