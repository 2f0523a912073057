/** The body of an operation as arguments: its fields where it is an object, else the body as a whole. */

import type { ArgumentLocation } from '../../../src/contract/families/api-tools.ts'
import { Inexpressible, type JsonObject, listOf, objectOf } from './json.ts'
import { type Operation, titleOf } from './operations.ts'
import type { References } from './references.ts'
import { cut } from './schemas.ts'

/** An argument on its way into the schema. */
export interface Argument {
  name: string
  schema: JsonObject
  required: boolean
  to: ArgumentLocation | { in: 'path' }
}

export interface Body {
  fields: Argument[]
  body_format: 'json' | 'form'
  contentType: string | undefined
  /** What else the body may hold beside its fields. */
  open: JsonObject | true | undefined
}

const NONE: Body = { fields: [], body_format: 'json', contentType: undefined, open: undefined }

export function bodyOf(operation: Operation, references: References, convert: (schema: unknown) => JsonObject, notes: string[]): Body {
  const request = references.resolved(operation.own.requestBody)
  const content = Object.entries(objectOf(request.content))
  if (content.length === 0) return NONE
  if (operation.method === 'GET') {
    notes.push(`${titleOf(operation)} describes a body, which GET requests do not have; it is left out`)
    return NONE
  }
  const types = content.map(([type, value]) => ({ type: type.split(';', 1)[0]?.trim().toLowerCase() ?? '', value: objectOf(value) }))
  const json = types.find(({ type }) => type === 'application/json') ?? types.find(({ type }) => /\+json$/.test(type) || type === '*/*')
  const form = types.find(({ type }) => type === 'application/x-www-form-urlencoded')
  const chosen = json ?? form
  if (!chosen)
    throw new Inexpressible(
      `it takes ${types
        .map(({ type }) => type)
        .join(' or ')
        .slice(0, 100)}, and tools send JSON or plain forms`,
    )
  const schema = convert(chosen.value.schema ?? {})
  const needed = request.required === true
  const contentType = json && /\+json$/.test(json.type) ? json.type : undefined
  const fields = asFields(schema)
  if (fields)
    return {
      fields: fields.map(([name, field]) => ({
        name,
        schema: objectOf(field),
        required: needed && listOf(schema.required).includes(name),
        to: { in: 'body', ...(json ? {} : formStyle(chosen.value, name)) },
      })),
      body_format: json ? 'json' : 'form',
      contentType,
      open: openness(schema.additionalProperties),
    }
  if (!json) throw new Inexpressible('its form has no named fields')
  const described =
    typeof request.description === 'string' && schema.description === undefined ? { description: cut(request.description, 400) } : {}
  return {
    ...NONE,
    fields: [{ name: 'body', schema: { ...schema, ...described }, required: needed, to: { in: 'whole_body' } }],
    contentType,
  }
}

/** The fields of a schema that is nothing but an object of named fields. */
function asFields(schema: JsonObject): [string, unknown][] | undefined {
  const { type = 'object', properties, allOf, anyOf } = schema
  const fields = Object.entries(objectOf(properties))
  return type === 'object' && allOf === undefined && anyOf === undefined && fields.length > 0 ? fields : undefined
}

function openness(additional: unknown): JsonObject | true | undefined {
  if (additional === true) return true
  return typeof additional === 'object' && additional !== null ? objectOf(additional) : undefined
}

function formStyle({ encoding }: JsonObject, name: string): { style?: 'brackets' | 'comma' } {
  const { style, explode } = objectOf(objectOf(encoding)[name])
  if (style === 'deepObject') return { style: 'brackets' }
  return explode === false ? { style: 'comma' } : {}
}
