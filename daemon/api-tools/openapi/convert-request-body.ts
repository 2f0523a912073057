/** Converts the request body of an operation to arguments: one per field of an object, else one for the whole body. */

import type { ArgumentLocation } from '../../../src/contract/families/api-tools.ts'
import { type JsonObject, toList, toObject, UnsupportedOperationError } from './json.ts'
import { formatOperation, type Operation } from './operations.ts'
import type { ReferenceResolver } from './reference-resolver.ts'
import { truncate } from './schema-converter.ts'

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
  /** Schema of additional properties, if allowed. */
  additionalProperties: JsonObject | true | undefined
}

const NO_BODY: Body = { fields: [], body_format: 'json', contentType: undefined, additionalProperties: undefined }

export function convertRequestBody(
  operation: Operation,
  references: ReferenceResolver,
  convert: (schema: unknown) => JsonObject,
  notes: string[],
): Body {
  const request = references.resolve(operation.definition.requestBody)
  const content = Object.entries(toObject(request.content))
  if (content.length === 0) return NO_BODY
  if (operation.method === 'GET') {
    notes.push(`${formatOperation(operation)} describes a body, which GET requests do not have; it is omitted`)
    return NO_BODY
  }
  const types = content.map(([type, value]) => ({ type: type.split(';', 1)[0]?.trim().toLowerCase() ?? '', value: toObject(value) }))
  const json = types.find(({ type }) => type === 'application/json') ?? types.find(({ type }) => /\+json$/.test(type) || type === '*/*')
  const form = types.find(({ type }) => type === 'application/x-www-form-urlencoded')
  const media = json ?? form
  if (!media)
    throw new UnsupportedOperationError(
      `it takes ${types
        .map(({ type }) => type)
        .join(' or ')
        .slice(0, 100)}, and tools send only JSON or URL-encoded forms`,
    )
  const schema = convert(media.value.schema ?? {})
  const needed = request.required === true
  const contentType = json && /\+json$/.test(json.type) ? json.type : undefined
  const fields = listFields(schema)
  if (fields)
    return {
      fields: fields.map(([name, field]) => ({
        name,
        schema: toObject(field),
        required: needed && toList(schema.required).includes(name),
        to: { in: 'body', ...(json ? {} : getFormStyle(media.value, name)) },
      })),
      body_format: json ? 'json' : 'form',
      contentType,
      additionalProperties: getAdditionalProperties(schema.additionalProperties),
    }
  if (!json) throw new UnsupportedOperationError('its form has no named fields')
  const described =
    typeof request.description === 'string' && schema.description === undefined ? { description: truncate(request.description, 400) } : {}
  return {
    ...NO_BODY,
    fields: [{ name: 'body', schema: { ...schema, ...described }, required: needed, to: { in: 'whole_body' } }],
    contentType,
  }
}

/** Returns the fields if the schema is a plain object with named fields. */
function listFields(schema: JsonObject): [string, unknown][] | undefined {
  const { type = 'object', properties, allOf, anyOf } = schema
  const fields = Object.entries(toObject(properties))
  return type === 'object' && allOf === undefined && anyOf === undefined && fields.length > 0 ? fields : undefined
}

function getAdditionalProperties(additional: unknown): JsonObject | true | undefined {
  if (additional === true) return true
  return typeof additional === 'object' && additional !== null ? toObject(additional) : undefined
}

function getFormStyle({ encoding }: JsonObject, name: string): { style?: 'brackets' | 'comma' } {
  const { style, explode } = toObject(toObject(encoding)[name])
  if (style === 'deepObject') return { style: 'brackets' }
  return explode === false ? { style: 'comma' } : {}
}
