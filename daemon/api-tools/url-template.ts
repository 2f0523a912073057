/** Addresses with {placeholders}: they may stand in the path and the query, and what fills them stays where it stands. */
import { createValidationError } from '../../src/contract/errors.ts'
import { plainAddress } from '../outbound/address.ts'

const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_.-]*)\}/g
/** A segment that walks up the path, also in the spellings that an address parser understands. */
const DOTS = /^(\.|%2e){1,2}$/i

export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(PLACEHOLDER)].map(([, name]) => name as string))]
}

/** The origin the template always stays on. */
export function checkUrlTemplate(template: string): string {
  const afterOrigin = template.replace(/^https?:\/\/[^/?#]*/i, '')
  const origin = template.slice(0, template.length - afterOrigin.length)
  if (/[{}]/.test(origin)) throw createValidationError('url', 'placeholders may stand in the path and the query only')
  if (/[{}]/.test(afterOrigin.replaceAll(PLACEHOLDER, '')))
    throw createValidationError('url', 'has a brace that belongs to no {placeholder}')
  if (/#.*\{/s.test(afterOrigin)) throw createValidationError('url', 'has a placeholder after #, which is never sent')
  return plainAddress('url', template.replaceAll(PLACEHOLDER, 'x'), 'Give it as auth.').origin
}

/** The address with its placeholders filled. A part of the query whose placeholder has no value is left out. */
export function filledUrl(template: string, values: Readonly<Record<string, unknown>>): URL {
  const [address = '', query] = cut(template.replace(/#.*$/s, ''), '?')
  const path = address.replaceAll(PLACEHOLDER, (_, name: string) => inPath(name, own(values, name)))
  const pairs = (query ?? '')
    .split('&')
    .filter((pair) => placeholdersOf(pair).every((name) => own(values, name) !== undefined && own(values, name) !== null))
  const search = pairs
    .map((pair) => pair.replaceAll(PLACEHOLDER, (_, name: string) => encoded(name, scalar(name, own(values, name)))))
    .join('&')
  const walking = path.split(/[/\\]/).findIndex((segment, index) => index > 2 && DOTS.test(segment))
  if (walking > 0 && !DOTS.test(address.split(/[/\\]/)[walking] ?? '')) {
    const [name = 'url'] = placeholdersOf(address.split(/[/\\]/)[walking] ?? '')
    throw createValidationError(`arguments.${name}`, 'must not be "." or "..", which would lead to another path')
  }
  const url = plainAddress('url', search === '' ? path : `${path}?${search}`)
  // Values are encoded and cannot do this; that they did not is what the guard of the network relies on.
  if (url.origin !== checkUrlTemplate(template)) throw createValidationError('arguments', 'must not change where the call goes')
  return url
}

function inPath(name: string, value: unknown): string {
  if (value === undefined || value === null) throw createValidationError(`arguments.${name}`, 'is required: it is a part of the path')
  const text = scalar(name, value)
  if (text === '') throw createValidationError(`arguments.${name}`, 'must not be empty: it is a part of the path')
  return encoded(name, text)
}

function scalar(name: string, value: unknown): string {
  if (typeof value === 'object')
    throw createValidationError(`arguments.${name}`, 'must be a text, a number or true or false: it is a part of the address')
  return String(value)
}

/** For an address: no character that means anything there stays as it is. */
export function encoded(name: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch (cause) {
    throw Object.assign(createValidationError(`arguments.${name}`, 'must be whole Unicode characters; it holds half of a surrogate pair'), {
      cause,
    })
  }
}

const own = (values: Readonly<Record<string, unknown>>, name: string): unknown => (Object.hasOwn(values, name) ? values[name] : undefined)

function cut(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
