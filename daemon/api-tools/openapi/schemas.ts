/** From the schemas of OpenAPI to JSON Schema that stands on its own: references written out, and what never ends left open. */
import { Inexpressible, isObject, type JsonObject, listOf, objectOf } from './json.ts'
import { merged } from './merging.ts'
import { References } from './references.ts'

/** How much of a schema is written out. */
interface Measure {
  /** References within references. */
  references: number
  /** Characters of a description. */
  description: number
}

/** From all of it to next to nothing: the first that fits is taken. */
const MEASURES: readonly Measure[] = [
  { references: 12, description: 1_000 },
  { references: 6, description: 400 },
  { references: 4, description: 200 },
  { references: 3, description: 150 },
  { references: 2, description: 100 },
  { references: 1, description: 80 },
  { references: 0, description: 60 },
]
/** What a model can be expected to read of one tool. */
const MOST_CHARACTERS = 20_000
const MOST_PARTS = 5_000
const LONGEST_PATTERN = 1_000
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']
const NUMBERS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
]

class TooLarge extends Error {}

export class Schemas {
  readonly #references: References
  readonly #dialect: '3.0' | '3.1'
  #parts = 0
  #opened = false

  constructor(references: References, dialect: '3.0' | '3.1') {
    this.#references = references
    this.#dialect = dialect
  }

  /** What `build` makes of converted schemas, as complete as fits; `opened` where something of it was left open. */
  fitting<T>(build: (convert: (schema: unknown) => JsonObject) => T): { built: T; opened: boolean } {
    for (const measure of MEASURES) {
      this.#parts = 0
      this.#opened = false
      try {
        const built = build((schema) => this.#converted(schema, measure, []))
        if (JSON.stringify(built).length <= MOST_CHARACTERS) return { built, opened: this.#opened }
      } catch (error) {
        if (!(error instanceof TooLarge)) throw error
      }
    }
    throw new Inexpressible('its arguments are too many to be described to a model')
  }

  /** `chain` holds the references that are being written out, to know one that comes round again. */
  #converted(schema: unknown, measure: Measure, chain: readonly string[]): JsonObject {
    if (++this.#parts > MOST_PARTS) throw new TooLarge()
    if (!isObject(schema)) return schema === false ? { not: {} } : {}
    if (typeof schema.$ref === 'string') return this.#referred(schema as { $ref: string }, measure, chain)
    const inside = (part: unknown) => this.#converted(part, measure, chain)
    const plain = { ...keywords(schema, measure), ...structure(schema, inside) }
    const whole = merged(plain, listOf(schema.allOf).map(inside))
    const choices = ['anyOf', 'oneOf'].map((word) => listOf(schema[word]).map(inside)).filter((list) => list.length > 0)
    // Of several that fit, the server takes what it likes; only whether one does is ours to ask.
    const [first, ...more] = choices
    if (first) whole.anyOf = first
    if (more.length > 0) whole.allOf = [...listOf(whole.allOf), ...more.map((anyOf) => ({ anyOf }))]
    return this.#dialect === '3.0' && schema.nullable === true ? orNull(whole) : whole
  }

  #referred(schema: JsonObject & { $ref: string }, measure: Measure, chain: readonly string[]): JsonObject {
    const target = this.#references.at(schema.$ref)
    const beside = typeof schema.description === 'string' ? { description: cut(schema.description, measure.description) } : {}
    if (chain.includes(schema.$ref) || chain.length >= measure.references) {
      this.#opened = true
      const { type, description } = objectOf(target)
      const known = typesOf(type)
      return {
        ...(known === undefined ? {} : { type: known }),
        description: cut(
          [References.nameOf(schema.$ref), description].filter((text) => typeof text === 'string' && text !== '').join(': '),
          measure.description,
        ),
        ...beside,
      }
    }
    return { ...this.#converted(target, measure, [...chain, schema.$ref]), ...beside }
  }
}

/** Keywords whose values are plain, where those values are what they should be. */
function keywords(schema: JsonObject, measure: Measure): JsonObject {
  const found: JsonObject = {}
  const { description, format, pattern, required, uniqueItems, exclusiveMinimum, exclusiveMaximum } = schema
  const type = typesOf(schema.type)
  if (type !== undefined) found.type = type
  if (typeof description === 'string' && description !== '') found.description = cut(description, measure.description)
  if (typeof format === 'string') found.format = format
  if (Array.isArray(schema.enum) && schema.enum.length > 0) found.enum = unique(schema.enum)
  for (const name of ['const', 'default']) if (Object.hasOwn(schema, name)) found[name] = schema[name]
  for (const name of NUMBERS) if (Number.isFinite(schema[name])) found[name] = schema[name]
  // In 3.0 these say whether the limit itself is excluded.
  if (exclusiveMinimum === true && found.minimum !== undefined) moved(found, 'minimum', 'exclusiveMinimum')
  if (exclusiveMaximum === true && found.maximum !== undefined) moved(found, 'maximum', 'exclusiveMaximum')
  if (found.multipleOf !== undefined && (found.multipleOf as number) <= 0) delete found.multipleOf
  if (typeof pattern === 'string' && isPattern(pattern)) found.pattern = pattern
  if (uniqueItems === true) found.uniqueItems = true
  const names = unique(listOf(required).filter((name) => typeof name === 'string'))
  if (names.length > 0) found.required = names
  return found
}

/** Keywords that hold schemas. What only the server fills in is none of the caller's business. */
function structure(schema: JsonObject, inside: (part: unknown) => JsonObject): JsonObject {
  const found: JsonObject = {}
  const fields = Object.entries(objectOf(schema.properties))
  const own = fields.filter(([, field]) => objectOf(field).readOnly !== true)
  if (isObject(schema.properties)) found.properties = Object.fromEntries(own.map(([name, field]) => [name, inside(field)]))
  const hidden = fields.filter(([, field]) => objectOf(field).readOnly === true).map(([name]) => name)
  const required = listOf(schema.required).filter((name) => typeof name === 'string' && !hidden.includes(name))
  if (hidden.length > 0) found.required = unique(required)
  if (isObject(schema.items)) found.items = inside(schema.items)
  if (Array.isArray(schema.prefixItems)) found.prefixItems = schema.prefixItems.map(inside)
  const { additionalProperties } = schema
  if (typeof additionalProperties === 'boolean') found.additionalProperties = additionalProperties
  else if (isObject(additionalProperties)) found.additionalProperties = inside(additionalProperties)
  return found
}

export function typesOf(type: unknown): string | string[] | undefined {
  const known = unique([type].flat().filter((one) => TYPES.includes(one as string))) as string[]
  return known.length > 1 ? known : known[0]
}

function orNull(schema: JsonObject): JsonObject {
  if (schema.type === undefined || schema.allOf || schema.anyOf) return { anyOf: [schema, { type: 'null' }] }
  const types = unique([...[schema.type].flat(), 'null'])
  const values = schema.enum === undefined ? {} : { enum: unique([...listOf(schema.enum), null]) }
  return { ...schema, type: types, ...values }
}

function moved(schema: JsonObject, from: string, to: string): void {
  schema[to] = schema[from]
  delete schema[from]
}

function isPattern(pattern: string): boolean {
  try {
    return pattern.length <= LONGEST_PATTERN && new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false // what only other languages understand cannot be asked of a value here
  }
}

export function cut(text: string, longest: number): string {
  const plain = text.trim()
  return plain.length <= longest ? plain : `${plain.slice(0, longest - 1).replace(/[\uD800-\uDBFF]?\s*\S{0,20}$/, '')}…`
}

const unique = <T>(values: readonly T[]): T[] => [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
