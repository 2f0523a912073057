/** URL templates with {placeholders} in path and query; values cannot change the rest of the URL. */
import { createValidationError } from '../../src/contract/errors.ts'
import { parseHttpUrl } from '../outbound/parse-url.ts'
import { getOwn } from './openapi/json.ts'

const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_.-]*)\}/g
/** Dot segments, also percent-encoded. */
const DOT_SEGMENT = /^(\.|%2e){1,2}$/i

export function listPlaceholders(template: string): string[] {
  return [...new Set([...template.matchAll(PLACEHOLDER)].map(([, name]) => name as string))]
}

/** Returns the origin of the template. */
export function checkUrlTemplate(template: string): string {
  const afterOrigin = template.replace(/^https?:\/\/[^/?#]*/i, '')
  const origin = template.slice(0, template.length - afterOrigin.length)
  if (/[{}]/.test(origin)) throw createValidationError('url', 'placeholders are allowed in the path and the query only')
  if (/[{}]/.test(afterOrigin.replaceAll(PLACEHOLDER, '')))
    throw createValidationError('url', 'has a brace that is not part of a {placeholder}')
  if (/#.*\{/s.test(afterOrigin)) throw createValidationError('url', 'has a placeholder after #, which is never sent')
  return parseHttpUrl('url', template.replaceAll(PLACEHOLDER, 'x'), 'Set auth instead.').origin
}

/** Servers may decode these, so that a path that begins with a prefix may still leave it. */
const ESCAPES_PREFIX = /\.\.|%(2e|2f|5c|25)/i
const PLACEHOLDER_MARK = '%00'

/** Whether all URLs of a template are on the server and below the path of another one, up to the first placeholder of that. */
export function isWithin(template: string, outer: string): boolean {
  if (checkUrlTemplate(template) !== checkUrlTemplate(outer)) return false
  const [path, outerPath] = [getPath(template), getPath(outer)]
  const [prefix = ''] = outerPath.split(PLACEHOLDER_MARK, 1)
  const rest = path.slice(prefix.length)
  const endsAtSegment = rest === '' || rest.startsWith('/') || prefix.endsWith('/') || prefix !== outerPath
  return path.startsWith(prefix) && endsAtSegment && !ESCAPES_PREFIX.test(rest)
}

/** Resolves dot segments, as requests do. */
const getPath = (template: string): string => new URL(template.replaceAll(PLACEHOLDER, PLACEHOLDER_MARK)).pathname

/** Query parameters whose placeholder has no value are omitted. */
export function fillUrl(template: string, values: Readonly<Record<string, unknown>>): URL {
  const [address = '', query] = splitOnce(template.replace(/#.*$/s, ''), '?')
  const path = address.replaceAll(PLACEHOLDER, (_, name: string) => encodePathValue(name, getOwn(values, name)))
  const pairs = (query ?? '')
    .split('&')
    .filter((pair) => listPlaceholders(pair).every((name) => getOwn(values, name) !== undefined && getOwn(values, name) !== null))
  const search = pairs
    .map((pair) => pair.replaceAll(PLACEHOLDER, (_, name: string) => encodeArgument(name, formatScalar(name, getOwn(values, name)))))
    .join('&')
  const walking = path.split(/[/\\]/).findIndex((segment, index) => index > 2 && DOT_SEGMENT.test(segment))
  if (walking > 0 && !DOT_SEGMENT.test(address.split(/[/\\]/)[walking] ?? '')) {
    const [name = 'url'] = listPlaceholders(address.split(/[/\\]/)[walking] ?? '')
    throw createValidationError(`arguments.${name}`, 'must not be "." or "..", which would change the path')
  }
  const url = parseHttpUrl('url', search === '' ? path : `${path}?${search}`)
  // Encoded values cannot change the origin; the network guard relies on it, so it is checked.
  if (url.origin !== checkUrlTemplate(template)) throw createValidationError('arguments', 'must not change the server of the request')
  return url
}

function encodePathValue(name: string, value: unknown): string {
  if (value === undefined || value === null) throw createValidationError(`arguments.${name}`, 'is required: it is part of the path')
  const text = formatScalar(name, value)
  if (text === '') throw createValidationError(`arguments.${name}`, 'must not be empty: it is part of the path')
  return encodeArgument(name, text)
}

function formatScalar(name: string, value: unknown): string {
  if (typeof value === 'object')
    throw createValidationError(`arguments.${name}`, 'must be a string, number or boolean: it is part of the URL')
  return String(value)
}

/** Percent-encodes an argument. */
export function encodeArgument(name: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch (cause) {
    throw Object.assign(createValidationError(`arguments.${name}`, 'must be valid Unicode; it contains an unpaired surrogate'), {
      cause,
    })
  }
}

function splitOnce(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
