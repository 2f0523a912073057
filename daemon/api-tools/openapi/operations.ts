/** Operations of a document: listing, selection, names and descriptions. */
import { suggestWord } from '../../../src/contract/suggest.ts'
import { matchesWildcards } from '../../core/match-wildcards.ts'
import { InvalidDocumentError, isObject, type JsonObject, toList, toObject, toText, UnsupportedOperationError } from './json.ts'
import type { ReferenceResolver } from './reference-resolver.ts'
import { truncate } from './schema-converter.ts'

export interface Operation {
  method: string
  path: string
  definition: JsonObject
  pathItem: JsonObject
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace']
/** Every model call includes the descriptions of all tools. */
const MAX_DESCRIPTION_LENGTH = 1_000
const MAX_NAME_LENGTH = 64

export const formatOperation = ({ method, path }: Operation): string => `${method} ${path.slice(0, 200)}`

export function listOperations(root: JsonObject, references: ReferenceResolver): Operation[] {
  return Object.entries(toObject(root.paths)).flatMap(([path, value]) => {
    if (path.startsWith('x-')) return []
    const pathItem = resolvePathItem(value, references)
    return METHODS.flatMap((method) => {
      const definition = pathItem[method]
      return isObject(definition) ? [{ method: method.toUpperCase(), path, definition, pathItem }] : []
    })
  })
}

/** Resolves a path item; fields next to its reference take precedence. */
function resolvePathItem(value: unknown, references: ReferenceResolver): JsonObject {
  const item = toObject(value)
  if (typeof item.$ref !== 'string') return item
  try {
    return { ...references.resolve(item), ...item }
  } catch (error) {
    if (error instanceof UnsupportedOperationError) return item
    throw error
  }
}

/** Selectors are an operationId, tag:name, /path or METHOD /path, with * as wildcard. */
export function selectOperations(operations: readonly Operation[], only: readonly string[] | undefined): Operation[] {
  if (only === undefined) return [...operations]
  const wanted = new Set<Operation>()
  for (const selector of only) {
    const matches = operations.filter((operation) => matchesSelector(selector, operation))
    if (matches.length === 0) throw createUnknownSelectorError(selector, operations)
    for (const operation of matches) wanted.add(operation)
  }
  return operations.filter((operation) => wanted.has(operation))
}

function matchesSelector(selector: string, { method, path, definition }: Operation): boolean {
  if (/^tag:/i.test(selector)) return toList(definition.tags).some((tag) => matchesWildcards(selector.slice(4), toText(tag)))
  const [, verb, place] = /^([A-Za-z]+)\s+(\S.*)$/.exec(selector) ?? []
  if (verb !== undefined && place !== undefined && METHODS.includes(verb.toLowerCase()))
    return verb.toUpperCase() === method && matchesWildcards(place, path)
  return selector.startsWith('/') ? matchesWildcards(selector, path) : matchesWildcards(selector, toText(definition.operationId))
}

function createUnknownSelectorError(selector: string, operations: readonly Operation[]): InvalidDocumentError {
  const names = operations.flatMap((operation) => [
    toText(operation.definition.operationId),
    formatOperation(operation),
    ...toList(operation.definition.tags).map((tag) => `tag:${toText(tag)}`),
  ])
  const near = suggestWord(selector, [...new Set(names.filter(Boolean))].slice(0, 2_000))
  const hint = near ? `Did you mean "${near}"?` : 'Use an operationId, tag:name, /path or METHOD /path.'
  return new InvalidDocumentError(`no operation matches "${selector.slice(0, 100)}"`, { field: 'only', hint })
}

/** The operationId, else method and path, in characters that models accept. */
export function createToolName({ method, path, definition }: Operation): string {
  const operationId = toIdentifier(toText(definition.operationId))
  return (operationId === '' ? toIdentifier(`${method.toLowerCase()} ${path}`) : operationId).slice(0, MAX_NAME_LENGTH)
}

/** Keeps letters, digits, _ and -. */
export const toIdentifier = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '')

export function getDescription(operation: Operation): string {
  const { summary, description } = operation.definition
  const [short, long] = [toText(summary).trim(), toText(description).trim()]
  const text = long.startsWith(short) ? long : [short, long].filter(Boolean).join('\n\n')
  return truncate(text === '' ? formatOperation(operation) : text, MAX_DESCRIPTION_LENGTH)
}
