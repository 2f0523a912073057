/** Builds the arguments of a tool from the parameters and the body of an operation. */
import type { ArgumentLocation } from '../../../src/contract/families/api-tools.ts'
import { HTTP_TOKEN, RESERVED_HEADERS } from '../build-request.ts'
import { type Argument, convertRequestBody } from './convert-request-body.ts'
import { type JsonObject, toList, toObject, toText, UnsupportedOperationError } from './json.ts'
import { type Operation, toIdentifier } from './operations.ts'
import type { ReferenceResolver } from './reference-resolver.ts'
import { truncate } from './schema-converter.ts'

export interface ToolInputs {
  path: string
  parameters: JsonObject
  locations: Record<string, ArgumentLocation>
  body_format: 'json' | 'form'
  /** Content type of a body that is JSON but not application/json. */
  contentType: string | undefined
  notes: string[]
}

type Convert = (schema: unknown) => JsonObject

/** Header parameters that OpenAPI tells tools to ignore. */
const IGNORED_HEADERS = ['accept', 'content-type', 'authorization']
/** Names that every object inherits. */
const FORBIDDEN_NAMES = ['__proto__', 'constructor', 'prototype']

export function buildInputs(operation: Operation, references: ReferenceResolver, convert: Convert, wantsDeprecated: boolean): ToolInputs {
  const notes: string[] = []
  const included = listParameters(operation, references).filter(
    ({ deprecated, required }) => wantsDeprecated || deprecated !== true || required === true,
  )
  const args = included.flatMap((parameter) => convertParameter(parameter, convert, notes))
  const declared = args.filter(({ to }) => to.in === 'path').map(({ name }) => name)
  const inPath = [...operation.path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name as string)
  for (const name of inPath)
    if (!declared.includes(name)) args.push({ name, schema: { type: 'string' }, required: true, to: { in: 'path' } })
  const { fields, body_format, contentType, additionalProperties: open } = convertRequestBody(operation, references, convert, notes)
  const ofPath = args.filter(({ name, to }) => to.in === 'path' && inPath.includes(name))
  const namedArguments = assignNames([...ofPath, ...args.filter(({ to }) => to.in !== 'path'), ...fields])
  const usual = operation.method === 'GET' || operation.method === 'DELETE' ? 'query' : 'body'
  const locations = namedArguments.flatMap(({ argument, name, to }) => listDestinations(argument, name, to, usual))
  const path = operation.path.replaceAll(
    /\{([^{}]+)\}/g,
    (_, name: string) => `{${namedArguments.find((entry) => entry.to.in === 'path' && entry.name === name)?.argument}}`,
  )
  const required = namedArguments.filter((entry) => entry.required).map(({ argument }) => argument)
  const parameters = {
    type: 'object',
    properties: Object.fromEntries(namedArguments.map(({ argument, schema }) => [argument, schema])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: usual === 'body' && open !== undefined ? open : false,
  }
  return { path, parameters, locations: Object.fromEntries(locations), body_format, contentType, notes }
}

/** Parameters of the operation override those of the path. */
function listParameters({ definition, pathItem }: Operation, references: ReferenceResolver): JsonObject[] {
  const all = [...toList(pathItem.parameters), ...toList(definition.parameters)].map((parameter) => references.resolve(parameter))
  return [...new Map(all.map((parameter) => [`${toText(parameter.in)} ${toText(parameter.name)}`, parameter])).values()]
}

function convertParameter(parameter: JsonObject, convert: Convert, notes: string[]): Argument[] {
  const name = toText(parameter.name)
  const place = toText(parameter.in)
  const required = parameter.required === true || place === 'path'
  if (name === '' || (place === 'header' && IGNORED_HEADERS.includes(name.toLowerCase()))) return []
  const [content] = Object.values(toObject(parameter.content))
  const schema = convert(parameter.schema ?? toObject(content).schema ?? {})
  if (typeof parameter.description === 'string') schema.description = truncate(parameter.description, 400)
  const argument = { name, schema, required }
  const { style = 'form', explode = style === 'form' } = parameter
  const types = [schema.type].flat()
  const nested = types.includes('object') || schema.properties !== undefined
  const listed = types.includes('array')
  if (place === 'path' && (parameter.style ?? 'simple') === 'simple' && !nested)
    return [{ ...argument, schema: listed ? createCommaListSchema(schema) : schema, to: { in: 'path' } }]
  if (place === 'header' && !nested && HTTP_TOKEN.test(name) && !RESERVED_HEADERS.includes(name.toLowerCase()))
    return [{ ...argument, to: { in: 'header' } }]
  if (place === 'cookie' && !nested && !listed && HTTP_TOKEN.test(name)) return [{ ...argument, to: { in: 'cookie' } }]
  if (place === 'query' && parameter.content !== undefined) return [{ ...argument, to: { in: 'query', style: 'json' } }]
  if (place === 'query' && style === 'deepObject') return [{ ...argument, to: { in: 'query', style: 'brackets' } }]
  if (place === 'query' && style === 'form' && nested && explode === true && Object.keys(toObject(schema.properties)).length > 0)
    return spreadObject(schema, required)
  if (place === 'query' && style === 'form' && !nested)
    return [{ ...argument, to: { in: 'query', ...(listed && explode !== true ? { style: 'comma' } : {}) } }]
  const reason = `its ${place || 'unplaced'} parameter ${name.slice(0, 60)} has an unsupported style`
  if (required) throw new UnsupportedOperationError(reason)
  notes.push(`${reason}; it is omitted`)
  return []
}

/** Converts each field of an object to a query parameter. */
function spreadObject({ properties, required }: JsonObject, needed: boolean): Argument[] {
  return Object.entries(toObject(properties)).map(([name, schema]) => ({
    name,
    schema: toObject(schema),
    required: needed && toList(required).includes(name),
    to: { in: 'query' },
  }))
}

function createCommaListSchema({ items, description }: JsonObject): JsonObject {
  const { enum: words } = toObject(items)
  const of = Array.isArray(words) ? ` of ${words.slice(0, 30).join(', ')}` : ''
  return { type: 'string', description: [description, `Several values${of}, separated by commas.`].filter(Boolean).join(' ') }
}

/** Assigns unique names that models accept; of two equal names the second is changed. */
function assignNames(args: readonly Argument[]): (Argument & { argument: string })[] {
  const used = new Set<string>()
  return args.map((entry) => {
    const plain = toIdentifier(entry.name)
      .replace(/^(?![A-Za-z_])/, '_')
      .slice(0, 60)
    const place = entry.to.in === 'whole_body' ? 'body' : entry.to.in
    const candidates = [
      plain,
      `${place}_${plain}`.slice(0, 60),
      ...Array.from({ length: 1_000 }, (_, index) => `${plain.slice(0, 55)}_${index + 2}`),
    ]
    const argument = candidates.find((name) => !used.has(name) && !FORBIDDEN_NAMES.includes(name)) as string
    used.add(argument)
    return { ...entry, argument }
  })
}

/** Empty if the argument is at its default location. */
function listDestinations(argument: string, name: string, to: Argument['to'], usual: string): [string, ArgumentLocation][] {
  if (to.in === 'path') return []
  if (to.in === usual && argument === name && to.style === undefined) return []
  return [[argument, { ...to, ...(argument === name || to.in === 'whole_body' ? {} : { name: name.slice(0, 200) }) }]]
}
