/** Building blocks that the resource schemas share. */
import { type Static, type TObject, type TOptional, type TSchema, type TUnsafe, Type } from 'typebox'

type Fields = Record<string, TSchema>

/** A field that may also be null, written as a type list so that errors stay readable. */
export function nullable<S extends TSchema>(schema: S): TUnsafe<Static<S> | null> {
  const plain = schema as { type?: string; enum?: unknown[]; description?: string }
  if (plain.type === undefined)
    return Type.Unsafe({ ...(plain.description ? { description: plain.description } : {}), anyOf: [schema, { type: 'null' }] })
  const widened = { ...schema, type: [plain.type, 'null'] }
  return Type.Unsafe(plain.enum ? { ...widened, enum: [...plain.enum, null] } : widened)
}

/** One of a fixed set of words. */
export function stringEnum<const W extends readonly string[]>(words: W, options: object = {}): TUnsafe<W[number]> {
  return Type.Unsafe({ type: 'string', enum: [...words], ...options })
}

/** An object that refuses fields it does not know. */
export function object<F extends Fields>(fields: F, options: object = {}): TObject<F> {
  return Type.Object(fields, { additionalProperties: false, ...options })
}

/** The same fields, none of them required. */
export function optional<F extends Fields>(fields: F): { [K in keyof F]: TOptional<F[K]> } {
  const entries = Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)])
  return Object.fromEntries(entries)
}

/** Free-form JSON object, for metadata and the like. */
export const jsonObject = (description: string, options: object = {}): TUnsafe<Record<string, unknown>> =>
  Type.Unsafe({ type: 'object', additionalProperties: true, description, ...options })

export const identifier = (what: string) => Type.String({ minLength: 1, maxLength: 200, description: `Identifier of ${what}.` })

export const timestamp = (description: string) =>
  Type.String({ format: 'date-time', description: `${description} (ISO 8601, UTC).`, examples: ['2026-01-31T09:30:00.000Z'] })

export const resourceName = (what: string) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description: `Name of the ${what}, as people see it.` })

export const text = (description: string, maxLength = 100_000) => Type.String({ maxLength, description })

export const httpUrl = (description: string) =>
  Type.String({ minLength: 8, maxLength: 2_000, pattern: '^[hH][tT][tT][pP][sS]?://', description })

/** A stored resource: its identifier, its own fields, and when it was made and last changed. */
export function resource<F extends Fields>(what: string, fields: F, options: object = {}) {
  return object(
    {
      id: identifier(`the ${what}`),
      ...fields,
      created_at: timestamp('When it was created'),
      updated_at: timestamp('When it was last changed'),
    },
    options,
  )
}

/** The schemas of an object schema's fields. */
export function getFields(schema: TSchema): Record<string, TSchema> {
  return (schema as unknown as { properties?: Record<string, TSchema> }).properties ?? {}
}

const SCALARS = new Set(['string', 'number', 'integer', 'boolean'])

/** The scalar type of a field (null aside), or undefined for arrays and objects. */
export function getScalarType(schema: TSchema): 'string' | 'number' | 'integer' | 'boolean' | undefined {
  const { type } = schema as { type?: string | string[] }
  const found = [type].flat().find((name) => name !== 'null')
  return SCALARS.has(found ?? '') ? (found as 'string') : undefined
}

/** What a field holds when nobody gave it a value: its default, else null, else empty. */
export function getInitialValue(schema: TSchema): unknown {
  const { type, default: given } = schema as { type?: string | string[]; default?: unknown }
  if (given !== undefined) return given
  const types = [type].flat()
  if (types.includes('null') || getScalarType(schema) === undefined)
    return types.includes('array') ? [] : types.includes('object') && !types.includes('null') ? {} : null
  return types.includes('string') ? '' : types.includes('boolean') ? false : 0
}
