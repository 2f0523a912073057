/** Derives the schema of a JSON merge patch (RFC 7396) from the schema of an update. */
import { type TSchema, type TUnsafe, Type } from 'typebox'
import { nullable } from './fields.ts'

type Schema = TSchema & {
  type?: string | string[]
  const?: unknown
  title?: string
  default?: unknown
  discriminator?: object
  required?: string[]
  properties?: Record<string, TSchema>
  additionalProperties?: TSchema | boolean
  oneOf?: TSchema[]
  anyOf?: TSchema[]
}

/** `required` are the fields that cannot be removed. */
export function createPatchSchema(update: TSchema, description: string, required: readonly string[]): TUnsafe<Record<string, unknown>> {
  const { properties = {}, title, ...others } = update as Schema
  const fields = Object.entries(properties).map(([name, field]) => {
    const patch = toPatch(field)
    return [name, required.includes(name) ? patch : allowNull(patch)]
  })
  return Type.Unsafe({
    ...others,
    ...(title ? { title: title.replace(/Update$/, 'Patch') } : {}),
    description,
    properties: Object.fromEntries(fields),
  })
}

/** A part of an object can be sent without the other parts. Lists are replaced as a whole. */
function toPatch(schema: TSchema): TSchema {
  const {
    title,
    default: _,
    required: __,
    discriminator: ___,
    oneOf,
    anyOf = oneOf,
    properties,
    additionalProperties,
    ...others
  } = schema as Schema
  const isNested = anyOf !== undefined || properties !== undefined || typeof additionalProperties === 'object'
  if (!isNested) return schema
  return Type.Unsafe({
    ...others,
    ...(title ? { title: `${title}Patch` } : {}),
    ...(anyOf ? { anyOf: anyOf.map(toPatch) } : {}),
    ...(properties ? { properties: mapFields(properties) } : {}),
    ...(additionalProperties === undefined ? {} : { additionalProperties: toRemovable(additionalProperties) }),
  })
}

const mapFields = (fields: Record<string, TSchema>): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, allowNull(toPatch(field))]))

const toRemovable = (schema: TSchema | boolean): TSchema | boolean => (typeof schema === 'boolean' ? schema : allowNull(toPatch(schema)))

/** The word that tells the forms of a value apart cannot be removed. */
function allowNull(schema: TSchema): TSchema {
  const { type, const: word, anyOf = [] } = schema as Schema
  const isNullable = [type].flat().includes('null') || anyOf.some((part) => (part as Schema).type === 'null')
  return isNullable || word !== undefined ? schema : nullable(schema)
}
