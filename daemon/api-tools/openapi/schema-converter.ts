/** Converts OpenAPI schemas to self-contained JSON Schema: references are inlined, circular ones replaced by their type. */
import { isObject, type JsonObject, toList, toObject, UnsupportedOperationError } from './json.ts'
import { mergeSchemas } from './merge-schemas.ts'
import { ReferenceResolver } from './reference-resolver.ts'

interface DetailLevel {
  /** Depth of inlined references. */
  references: number
  /** Length of descriptions. */
  description: number
}

/** Tried in this order; the first whose result fits is used. */
const DETAIL_LEVELS: readonly DetailLevel[] = [
  { references: 12, description: 1_000 },
  { references: 6, description: 400 },
  { references: 4, description: 200 },
  { references: 3, description: 150 },
  { references: 2, description: 100 },
  { references: 1, description: 80 },
  { references: 0, description: 60 },
]
/** Characters of the JSON of one tool. */
const MAX_SCHEMA_LENGTH = 20_000
const MAX_SCHEMA_NODES = 5_000
const MAX_PATTERN_LENGTH = 1_000
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']
const NUMERIC_KEYWORDS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
]

class TooLargeError extends Error {}

export class SchemaConverter {
  readonly #references: ReferenceResolver
  readonly #dialect: '3.0' | '3.1'
  #nodes = 0
  #isTruncated = false

  constructor(references: ReferenceResolver, dialect: '3.0' | '3.1') {
    this.#references = references
    this.#dialect = dialect
  }

  /** Calls `build` with less and less detail until its result fits; `isTruncated` if references were not inlined. */
  buildToFit<T>(build: (convert: (schema: unknown) => JsonObject) => T): { built: T; isTruncated: boolean } {
    for (const detail of DETAIL_LEVELS) {
      this.#nodes = 0
      this.#isTruncated = false
      try {
        const built = build((schema) => this.#convert(schema, detail, []))
        if (JSON.stringify(built).length <= MAX_SCHEMA_LENGTH) return { built, isTruncated: this.#isTruncated }
      } catch (error) {
        if (!(error instanceof TooLargeError)) throw error
      }
    }
    throw new UnsupportedOperationError('its arguments are too large to be described to a model')
  }

  /** `chain` holds the references that are being inlined, to detect cycles. */
  #convert(schema: unknown, detail: DetailLevel, chain: readonly string[]): JsonObject {
    if (++this.#nodes > MAX_SCHEMA_NODES) throw new TooLargeError()
    if (!isObject(schema)) return schema === false ? { not: {} } : {}
    if (typeof schema.$ref === 'string') return this.#convertReference(schema as { $ref: string }, detail, chain)
    const convertPart = (part: unknown) => this.#convert(part, detail, chain)
    const plain = { ...convertKeywords(schema, detail), ...convertStructure(schema, convertPart) }
    const merged = mergeSchemas(plain, toList(schema.allOf).map(convertPart))
    const choices = ['anyOf', 'oneOf'].map((word) => toList(schema[word]).map(convertPart)).filter((list) => list.length > 0)
    // oneOf becomes anyOf: whether exactly one matches is for the server to check.
    const [first, ...more] = choices
    if (first) merged.anyOf = first
    if (more.length > 0) merged.allOf = [...toList(merged.allOf), ...more.map((anyOf) => ({ anyOf }))]
    return this.#dialect === '3.0' && schema.nullable === true ? addNull(merged) : merged
  }

  #convertReference(schema: JsonObject & { $ref: string }, detail: DetailLevel, chain: readonly string[]): JsonObject {
    const target = this.#references.getTarget(schema.$ref)
    const beside = typeof schema.description === 'string' ? { description: truncate(schema.description, detail.description) } : {}
    if (chain.includes(schema.$ref) || chain.length >= detail.references) {
      this.#isTruncated = true
      const { type, description } = toObject(target)
      const known = listTypes(type)
      return {
        ...(known === undefined ? {} : { type: known }),
        description: truncate(
          [ReferenceResolver.getName(schema.$ref), description].filter((text) => typeof text === 'string' && text !== '').join(': '),
          detail.description,
        ),
        ...beside,
      }
    }
    return { ...this.#convert(target, detail, [...chain, schema.$ref]), ...beside }
  }
}

/** Copies keywords with plain values, if those are valid. */
function convertKeywords(schema: JsonObject, detail: DetailLevel): JsonObject {
  const result: JsonObject = {}
  const { description, format, pattern, required, uniqueItems, exclusiveMinimum, exclusiveMaximum } = schema
  const type = listTypes(schema.type)
  if (type !== undefined) result.type = type
  if (typeof description === 'string' && description !== '') result.description = truncate(description, detail.description)
  if (typeof format === 'string') result.format = format
  if (Array.isArray(schema.enum) && schema.enum.length > 0) result.enum = unique(schema.enum)
  for (const name of ['const', 'default']) if (Object.hasOwn(schema, name)) result[name] = schema[name]
  for (const name of NUMERIC_KEYWORDS) if (Number.isFinite(schema[name])) result[name] = schema[name]
  // In 3.0 these are booleans.
  if (exclusiveMinimum === true && result.minimum !== undefined) renameKeyword(result, 'minimum', 'exclusiveMinimum')
  if (exclusiveMaximum === true && result.maximum !== undefined) renameKeyword(result, 'maximum', 'exclusiveMaximum')
  if (result.multipleOf !== undefined && (result.multipleOf as number) <= 0) delete result.multipleOf
  if (typeof pattern === 'string' && isValidPattern(pattern)) result.pattern = pattern
  if (uniqueItems === true) result.uniqueItems = true
  const names = unique(toList(required).filter((name) => typeof name === 'string'))
  if (names.length > 0) result.required = names
  return result
}

/** Converts keywords that contain schemas; read-only properties are omitted. */
function convertStructure(schema: JsonObject, convertPart: (part: unknown) => JsonObject): JsonObject {
  const result: JsonObject = {}
  const fields = Object.entries(toObject(schema.properties))
  const own = fields.filter(([, field]) => toObject(field).readOnly !== true)
  if (isObject(schema.properties)) result.properties = Object.fromEntries(own.map(([name, field]) => [name, convertPart(field)]))
  const hidden = fields.filter(([, field]) => toObject(field).readOnly === true).map(([name]) => name)
  const required = toList(schema.required).filter((name) => typeof name === 'string' && !hidden.includes(name))
  if (hidden.length > 0) result.required = unique(required)
  if (isObject(schema.items)) result.items = convertPart(schema.items)
  if (Array.isArray(schema.prefixItems)) result.prefixItems = schema.prefixItems.map(convertPart)
  const { additionalProperties } = schema
  if (typeof additionalProperties === 'boolean') result.additionalProperties = additionalProperties
  else if (isObject(additionalProperties)) result.additionalProperties = convertPart(additionalProperties)
  return result
}

function listTypes(type: unknown): string | string[] | undefined {
  const known = unique([type].flat().filter((entry) => TYPES.includes(entry as string))) as string[]
  return known.length > 1 ? known : known[0]
}

function addNull(schema: JsonObject): JsonObject {
  if (schema.type === undefined || schema.allOf || schema.anyOf) return { anyOf: [schema, { type: 'null' }] }
  const types = unique([...[schema.type].flat(), 'null'])
  const values = schema.enum === undefined ? {} : { enum: unique([...toList(schema.enum), null]) }
  return { ...schema, type: types, ...values }
}

function renameKeyword(schema: JsonObject, from: string, to: string): void {
  schema[to] = schema[from]
  delete schema[from]
}

function isValidPattern(pattern: string): boolean {
  try {
    return pattern.length <= MAX_PATTERN_LENGTH && new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false // not a JavaScript pattern
  }
}

export function truncate(text: string, longest: number): string {
  const plain = text.trim()
  return plain.length <= longest ? plain : `${plain.slice(0, longest - 1).replace(/[\uD800-\uDBFF]?\s*\S{0,20}$/, '')}…`
}

const unique = <T>(values: readonly T[]): T[] => [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
