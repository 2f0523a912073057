/** Schemas that are to hold together, as one where that says the same. */
import { isObject, type JsonObject, listOf } from './json.ts'

/** What can be taken together without a loss. */
const MERGEABLE = new Set(['type', 'properties', 'required', 'description', 'default', 'format', 'additionalProperties'])

/** A schema and those of its allOf. Where they cannot be merged they stay side by side. */
export function merged(schema: JsonObject, others: readonly JsonObject[]): JsonObject {
  if (others.length === 0) return schema
  const [only] = others
  if (others.length === 1 && only && Object.keys(only).every((name) => name === 'description' || !Object.hasOwn(schema, name)))
    return { ...only, ...schema }
  const all = [...others, schema]
  const plain = all.every(
    (one) => Object.keys(one).every((name) => MERGEABLE.has(name)) && (one.type === undefined || one.type === 'object'),
  )
  if (!plain) return { ...schema, allOf: [...others] }
  const properties = new Map<string, unknown>()
  for (const one of all)
    for (const [name, field] of Object.entries(isObject(one.properties) ? one.properties : {}))
      properties.set(name, together(properties.get(name), field))
  const required = [...new Set(all.flatMap((one) => listOf(one.required)))]
  const closed = all.filter((one) => one.additionalProperties !== undefined && one.additionalProperties !== false)
  return {
    type: 'object',
    ...Object.assign({}, ...others.map(({ description }) => (description === undefined ? {} : { description }))),
    ...(schema.description === undefined ? {} : { description: schema.description }),
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
    // Each would forbid what the other allows; whoever wrote them meant all of it.
    ...(closed.length > 0 ? { additionalProperties: closed.at(-1)?.additionalProperties } : {}),
  }
}

function together(one: unknown, other: unknown): unknown {
  if (one === undefined || JSON.stringify(one) === JSON.stringify(other)) return other
  return { allOf: [one, other] }
}
