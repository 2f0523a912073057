/** Converts the schemas of the contract to JSON Schema for the OpenAPI document. */
import type { TSchema } from 'typebox'

export type Json = Record<string, unknown>

/** Keywords whose values are data, not schemas. */
const DATA_KEYWORDS = new Set(['const', 'default', 'enum', 'examples', 'required'])
/** `const` already tells the schemas of a union apart. Generators would repeat it in every type. */
const OMITTED_KEYWORDS = new Set(['title', 'discriminator'])

/** Collects the schemas that have a title as components. */
export class OpenapiSchemas {
  readonly #components = new Map<string, Json>()

  /** Returns the schema, or a reference if it has a title. */
  convert(schema: TSchema): Json {
    const { title, type, ...others } = schema as { title?: unknown; type?: unknown; description?: string }
    if (typeof title !== 'string') return this.#convertKeywords(schema as Json)
    const types = [type].flat().filter((name) => name !== undefined && name !== 'null')
    this.#define(title, this.#convertKeywords({ ...(types.length > 0 ? { type: types[0] } : {}), ...others }))
    const reference = { $ref: `#/components/schemas/${title}` }
    return Array.isArray(type) ? { description: others.description, anyOf: [reference, { type: 'null' }] } : reference
  }

  /** Returns the components, sorted by name so that a new one does not move the others. */
  listComponents(): Record<string, Json> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #define(name: string, definition: Json): void {
    const known = this.#components.get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(definition)) throw new Error(`Two different schemas are named ${name}.`)
    this.#components.set(name, definition)
  }

  #convertKeywords(schema: Json): Json {
    const keywords = Object.entries(replaceAnyKeyPattern(schema)).filter(([keyword]) => !OMITTED_KEYWORDS.has(keyword))
    return Object.fromEntries(
      keywords.map(([keyword, value]) => {
        if (DATA_KEYWORDS.has(keyword)) return [keyword, value]
        return [keyword, keyword === 'properties' ? this.#convertFields(value as Json, schema.required) : this.#convertValue(value)]
      }),
    )
  }

  #convertValue(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#convertValue(item))
    return value === null || typeof value !== 'object' ? value : this.convert(value as TSchema)
  }

  #convertFields(fields: Json, required: unknown): Json {
    const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
    return Object.fromEntries(
      Object.entries(fields).map(([name, field]) => {
        const converted = this.convert(field as TSchema)
        return [name, isRequired(name) ? converted : describeDefault(converted)]
      }),
    )
  }
}

/** Records of TypeBox have a pattern for their keys. Generators type the values only with additionalProperties. */
function replaceAnyKeyPattern({ patternProperties, ...schema }: Json): Json {
  const patterns = (patternProperties ?? {}) as Json
  if ('^.*$' in patterns) return { ...schema, additionalProperties: patterns['^.*$'] }
  return patternProperties === undefined ? schema : { ...schema, patternProperties }
}

/** Moves a default to the description: openapi-typescript makes fields with a default required, in requests too. */
function describeDefault({ default: value, ...field }: Json): Json {
  if (value === undefined) return field
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { ...field, description: `${field.description} Default: ${text}.` }
}
