/** The operations of a document: what each is called, what it says of itself, and which of them are wanted. */
import { suggestWord } from '../../../src/contract/suggest.ts'
import { Inexpressible, isObject, type JsonObject, listOf, objectOf, textOf, Unusable } from './json.ts'
import type { References } from './references.ts'
import { cut } from './schemas.ts'

export interface Operation {
  method: string
  path: string
  /** The operation, and the path item it stands in. */
  own: JsonObject
  item: JsonObject
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace']
/** Models are asked to read it of every tool at each step. */
const LONGEST_DESCRIPTION = 1_000
const LONGEST_NAME = 64

export const titleOf = ({ method, path }: Operation): string => `${method} ${path.slice(0, 200)}`

export function operationsOf(root: JsonObject, references: References): Operation[] {
  return Object.entries(objectOf(root.paths)).flatMap(([path, given]) => {
    if (path.startsWith('x-')) return []
    const item = itemOf(given, references)
    return METHODS.flatMap((method) => {
      const own = item[method]
      return isObject(own) ? [{ method: method.toUpperCase(), path, own, item }] : []
    })
  })
}

/** What a path item refers to, with what stands beside the reference. */
function itemOf(given: unknown, references: References): JsonObject {
  const item = objectOf(given)
  if (typeof item.$ref !== 'string') return item
  try {
    return { ...references.resolved(item), ...item }
  } catch (error) {
    if (error instanceof Inexpressible) return item
    throw error
  }
}

/** Those that one of the words names: an operationId, tag:name, /path, or METHOD /path, each with * for anything. */
export function selected(operations: readonly Operation[], only: readonly string[] | undefined): Operation[] {
  if (only === undefined) return [...operations]
  const wanted = new Set<Operation>()
  for (const word of only) {
    const found = operations.filter((operation) => isMeant(word, operation))
    if (found.length === 0) throw notThere(word, operations)
    for (const operation of found) wanted.add(operation)
  }
  return operations.filter((operation) => wanted.has(operation))
}

function isMeant(word: string, { method, path, own }: Operation): boolean {
  if (/^tag:/i.test(word)) return listOf(own.tags).some((tag) => fits(word.slice(4), textOf(tag)))
  const [, verb, place] = /^([A-Za-z]+)\s+(\S.*)$/.exec(word) ?? []
  if (verb !== undefined && place !== undefined && METHODS.includes(verb.toLowerCase()))
    return verb.toUpperCase() === method && fits(place, path)
  return word.startsWith('/') ? fits(word, path) : fits(word, textOf(own.operationId))
}

/** Stars are matched piece by piece: a pattern made of them could take for ever. */
function fits(pattern: string, text: string): boolean {
  const [first = '', ...pieces] = pattern.split('*')
  if (pieces.length === 0) return pattern === text
  if (!text.startsWith(first)) return false
  let at = first.length
  const last = pieces.pop() ?? ''
  for (const piece of pieces) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return text.length >= at + last.length && text.endsWith(last)
}

function notThere(word: string, operations: readonly Operation[]): Unusable {
  const names = operations.flatMap((operation) => [
    textOf(operation.own.operationId),
    titleOf(operation),
    ...listOf(operation.own.tags).map((tag) => `tag:${textOf(tag)}`),
  ])
  const near = suggestWord(word, [...new Set(names.filter(Boolean))].slice(0, 2_000))
  const hint = near ? `Did you mean "${near}"?` : 'Name an operationId, tag:name, /path or METHOD /path.'
  return new Unusable(`no operation is "${word.slice(0, 100)}"`, { field: 'only', hint })
}

/** The operationId, as far as models take it for a name; else method and path. */
export function nameOf({ method, path, own }: Operation): string {
  const given = worded(textOf(own.operationId))
  return (given === '' ? worded(`${method.toLowerCase()} ${path}`) : given).slice(0, LONGEST_NAME)
}

/** Letters, digits, _ and -, as models want names. */
export const worded = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '')

export function descriptionOf(operation: Operation): string {
  const { summary, description } = operation.own
  const [short, long] = [textOf(summary).trim(), textOf(description).trim()]
  const whole = long.startsWith(short) ? long : [short, long].filter(Boolean).join('\n\n')
  return cut(whole === '' ? titleOf(operation) : whole, LONGEST_DESCRIPTION)
}
