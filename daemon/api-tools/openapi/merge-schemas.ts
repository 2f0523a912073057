import { isObject, type JsonObject, toList } from './json.ts'

const MERGEABLE_KEYWORDS = new Set(['type', 'properties', 'required', 'description', 'default', 'format', 'additionalProperties'])

/** Schemas that cannot be merged without loss stay in allOf. */
export function mergeSchemas(schema: JsonObject, others: readonly JsonObject[]): JsonObject {
  if (others.length === 0) return schema
  const [only] = others
  if (others.length === 1 && only && Object.keys(only).every((name) => name === 'description' || !Object.hasOwn(schema, name)))
    return { ...only, ...schema }
  const all = [...others, schema]
  const plain = all.every(
    (part) => Object.keys(part).every((name) => MERGEABLE_KEYWORDS.has(name)) && (part.type === undefined || part.type === 'object'),
  )
  if (!plain) return { ...schema, allOf: [...others] }
  const properties = new Map<string, unknown>()
  for (const part of all)
    for (const [name, field] of Object.entries(isObject(part.properties) ? part.properties : {}))
      properties.set(name, mergeProperty(properties.get(name), field))
  const required = [...new Set(all.flatMap((part) => toList(part.required)))]
  const closed = all.filter((part) => part.additionalProperties !== undefined && part.additionalProperties !== false)
  return {
    type: 'object',
    ...Object.assign({}, ...others.map(({ description }) => (description === undefined ? {} : { description }))),
    ...(schema.description === undefined ? {} : { description: schema.description }),
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
    // `additionalProperties: false` of one schema would forbid the properties of the others.
    ...(closed.length > 0 ? { additionalProperties: closed.at(-1)?.additionalProperties } : {}),
  }
}

function mergeProperty(first: unknown, second: unknown): unknown {
  if (first === undefined || JSON.stringify(first) === JSON.stringify(second)) return second
  return { allOf: [first, second] }
}
