/** Builders for the schemas of resources and their fields. */
import { type Static, type TObject, type TOptional, type TSchema, type TUnsafe, Type } from 'typebox'

export type Fields = Record<string, TSchema>

/** A nullable field, as a list of types where possible: validation errors are shorter than those of anyOf. */
export function nullable<S extends TSchema>(schema: S): TUnsafe<Static<S> | null> {
  const plain = schema as { type?: string; enum?: unknown[]; description?: string }
  if (plain.type === undefined)
    return Type.Unsafe({ ...(plain.description ? { description: plain.description } : {}), anyOf: [schema, { type: 'null' }] })
  const widened = { ...schema, type: [plain.type, 'null'] }
  return Type.Unsafe(plain.enum ? { ...widened, enum: [...plain.enum, null] } : widened)
}

/** One of a fixed set of strings. */
export function stringEnum<const W extends readonly string[]>(words: W, options: object = {}): TUnsafe<W[number]> {
  return Type.Unsafe({ type: 'string', enum: [...words], ...options })
}

/** An object that rejects unknown fields. `title` is the name of its schema in the OpenAPI document. */
export function object<F extends Fields>(fields: F, options: object = {}): TObject<F> {
  return Type.Object(fields, { additionalProperties: false, ...options })
}

/** An object with a schema of its own in the OpenAPI document. */
export const namedObject = <F extends Fields>(title: string, description: string, fields: F, examples?: readonly object[]): TObject<F> =>
  object(fields, { title, description, ...(examples && { examples }) })

/** The same fields, all optional. */
export function optional<F extends Fields>(fields: F): { [K in keyof F]: TOptional<F[K]> } {
  const entries = Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)])
  return Object.fromEntries(entries)
}

/** Some of the fields. */
export const pick = <F extends Fields, const Name extends keyof F>(fields: F, names: readonly Name[]): Pick<F, Name> =>
  Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<F, Name>

/** An object with any fields. */
export const jsonObject = (description: string, options: object = {}): TUnsafe<Record<string, unknown>> =>
  Type.Unsafe({ type: 'object', additionalProperties: true, description, ...options })

export const identifier = (what: string) => nonEmptyText(`Identifier of ${what}.`, 200)

export const timestamp = (description: string) =>
  Type.String({ format: 'date-time', description: `${description} (ISO 8601, UTC).`, examples: ['2026-01-31T09:30:00.000Z'] })

export const resourceName = (what: string) => nonBlankText(`Name of the ${what}.`, 200)

export const text = (description: string, maxLength = 100_000) => Type.String({ maxLength, description })

export const nonEmptyText = (description: string, maxLength: number) => Type.String({ minLength: 1, maxLength, description })

/** Also rejects text of spaces. */
export const nonBlankText = (description: string, maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '\\S', description })

export const flag = (description: string, byDefault?: boolean) =>
  Type.Boolean({ ...(byDefault === undefined ? {} : { default: byDefault }), description })

export const integer = (description: string, limits: { minimum: number; maximum?: number; default?: number }) =>
  Type.Integer({ ...limits, description })

export const count = (description: string) => Type.Integer({ minimum: 0, description })

/** A number that may be unknown. */
export const measure = (description: string) => nullable(Type.Number({ minimum: 0, description }))

export const httpUrl = (description: string) =>
  Type.String({ minLength: 8, maxLength: 2_000, pattern: '^[hH][tT][tT][pP][sS]?://', description })

/** The name of a schema in the OpenAPI document: KnowledgeSource for "knowledge source". */
export const formatSchemaName = (noun: string): string =>
  noun
    .split(' ')
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join('')

/** A stored resource: its identifier, its fields and its timestamps. */
export function resource<F extends Fields>(what: string, fields: F, options: object = {}) {
  return object(
    {
      id: identifier(`the ${what}`),
      ...fields,
      created_at: timestamp('Time of creation'),
      updated_at: timestamp('Time of the last change'),
    },
    { title: formatSchemaName(what), ...options },
  )
}

/** An example of a stored resource: the fields of a create request, and the initial values of all others, unless `others` has them. */
export function createExample(prefix: string, request: object, fields: Fields = {}, others: object = {}): object {
  const omitted = Object.entries(fields).filter(([name]) => !Object.hasOwn(request, name))
  return {
    id: `${prefix}_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a`,
    ...request,
    ...Object.fromEntries(omitted.map(([name, schema]) => [name, getInitialValue(schema)])),
    ...others,
    created_at: '2026-01-31T09:30:00.000Z',
    updated_at: '2026-01-31T09:30:00.000Z',
  }
}

export function getFields(schema: TSchema): Record<string, TSchema> {
  return (schema as unknown as { properties?: Record<string, TSchema> }).properties ?? {}
}

const SCALARS = new Set(['string', 'number', 'integer', 'boolean'])

/** The scalar type of a field, ignoring null; undefined for arrays and objects. */
export function getScalarType(schema: TSchema): 'string' | 'number' | 'integer' | 'boolean' | undefined {
  const { type } = schema as { type?: string | string[] }
  const scalar = [type].flat().find((name) => name !== 'null')
  return SCALARS.has(scalar ?? '') ? (scalar as 'string') : undefined
}

/** The value of an omitted field: its default, otherwise null if allowed, otherwise empty. */
export function getInitialValue(schema: TSchema): unknown {
  const { type, default: defaultValue } = schema as { type?: string | string[]; default?: unknown }
  if (defaultValue !== undefined) return defaultValue
  const types = [type].flat()
  if (types.includes('null') || getScalarType(schema) === undefined)
    return types.includes('array') ? [] : types.includes('object') && !types.includes('null') ? {} : null
  return types.includes('string') ? '' : types.includes('boolean') ? false : 0
}
