/** The parameters and the body of an operation as one list of arguments, each with its place in the request. */
import type { ArgumentLocation } from '../../../src/contract/families/api-tools.ts'
import { RESERVED_HEADERS, TOKEN } from '../request.ts'
import { Inexpressible, type JsonObject, listOf, objectOf, textOf } from './json.ts'
import { type Operation, worded } from './operations.ts'
import type { References } from './references.ts'
import { type Argument, bodyOf } from './request-body.ts'
import { cut } from './schemas.ts'

export interface Inputs {
  path: string
  parameters: JsonObject
  locations: Record<string, ArgumentLocation>
  body_format: 'json' | 'form'
  /** Of a body that is JSON under another name. */
  contentType: string | undefined
  notes: string[]
}

type Convert = (schema: unknown) => JsonObject

/** Headers that the specification says are described elsewhere. */
const DESCRIBED_ELSEWHERE = ['accept', 'content-type', 'authorization']
/** Names that mean something to every object. */
const TAKEN = ['__proto__', 'constructor', 'prototype']

export function inputsOf(operation: Operation, references: References, convert: Convert, wantsDeprecated: boolean): Inputs {
  const notes: string[] = []
  const given = parametersOf(operation, references).filter(
    ({ deprecated, required }) => wantsDeprecated || deprecated !== true || required === true,
  )
  const found = given.flatMap((parameter) => argumentsOf(parameter, convert, notes))
  const declared = found.filter(({ to }) => to.in === 'path').map(({ name }) => name)
  const inPath = [...operation.path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name as string)
  for (const name of inPath)
    if (!declared.includes(name)) found.push({ name, schema: { type: 'string' }, required: true, to: { in: 'path' } })
  const { fields, body_format, contentType, open } = bodyOf(operation, references, convert, notes)
  const ofPath = found.filter(({ name, to }) => to.in === 'path' && inPath.includes(name))
  const named = withNames([...ofPath, ...found.filter(({ to }) => to.in !== 'path'), ...fields])
  const usual = operation.method === 'GET' || operation.method === 'DELETE' ? 'query' : 'body'
  const locations = named.flatMap(({ argument, name, to }) => destination(argument, name, to, usual))
  const path = operation.path.replaceAll(
    /\{([^{}]+)\}/g,
    (_, name: string) => `{${named.find((one) => one.to.in === 'path' && one.name === name)?.argument}}`,
  )
  const required = named.filter((one) => one.required).map(({ argument }) => argument)
  const parameters = {
    type: 'object',
    properties: Object.fromEntries(named.map(({ argument, schema }) => [argument, schema])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: usual === 'body' && open !== undefined ? open : false,
  }
  return { path, parameters, locations: Object.fromEntries(locations), body_format, contentType, notes }
}

/** Those of the path, unless the operation has one of the same name and place. */
function parametersOf({ own, item }: Operation, references: References): JsonObject[] {
  const all = [...listOf(item.parameters), ...listOf(own.parameters)].map((parameter) => references.resolved(parameter))
  return [...new Map(all.map((parameter) => [`${textOf(parameter.in)} ${textOf(parameter.name)}`, parameter])).values()]
}

function argumentsOf(parameter: JsonObject, convert: Convert, notes: string[]): Argument[] {
  const name = textOf(parameter.name)
  const place = textOf(parameter.in)
  const required = parameter.required === true || place === 'path'
  if (name === '' || (place === 'header' && DESCRIBED_ELSEWHERE.includes(name.toLowerCase()))) return []
  const [content] = Object.values(objectOf(parameter.content))
  const schema = convert(parameter.schema ?? objectOf(content).schema ?? {})
  if (typeof parameter.description === 'string') schema.description = cut(parameter.description, 400)
  const argument = { name, schema, required }
  const { style = 'form', explode = style === 'form' } = parameter
  const types = [schema.type].flat()
  const nested = types.includes('object') || schema.properties !== undefined
  const listed = types.includes('array')
  if (place === 'path' && (parameter.style ?? 'simple') === 'simple' && !nested)
    return [{ ...argument, schema: listed ? commaText(schema) : schema, to: { in: 'path' } }]
  if (place === 'header' && !nested && TOKEN.test(name) && !RESERVED_HEADERS.includes(name.toLowerCase()))
    return [{ ...argument, to: { in: 'header' } }]
  if (place === 'cookie' && !nested && !listed && TOKEN.test(name)) return [{ ...argument, to: { in: 'cookie' } }]
  if (place === 'query' && parameter.content !== undefined) return [{ ...argument, to: { in: 'query', style: 'json' } }]
  if (place === 'query' && style === 'deepObject') return [{ ...argument, to: { in: 'query', style: 'brackets' } }]
  if (place === 'query' && style === 'form' && nested && explode === true && Object.keys(objectOf(schema.properties)).length > 0)
    return spread(schema, required)
  if (place === 'query' && style === 'form' && !nested)
    return [{ ...argument, to: { in: 'query', ...(listed && explode !== true ? { style: 'comma' } : {}) } }]
  const reason = `its ${place || 'unplaced'} parameter ${name.slice(0, 60)} is written in a way that tools cannot`
  if (required) throw new Inexpressible(reason)
  notes.push(`${reason}; it is left out`)
  return []
}

/** An object whose fields are each a parameter of the query. */
function spread({ properties, required }: JsonObject, needed: boolean): Argument[] {
  return Object.entries(objectOf(properties)).map(([name, schema]) => ({
    name,
    schema: objectOf(schema),
    required: needed && listOf(required).includes(name),
    to: { in: 'query' },
  }))
}

function commaText({ items, description }: JsonObject): JsonObject {
  const { enum: words } = objectOf(items)
  const of = Array.isArray(words) ? ` of ${words.slice(0, 30).join(', ')}` : ''
  return { type: 'string', description: [description, `Several values${of}, separated by commas.`].filter(Boolean).join(' ') }
}

/** Names that models take, each once: of two that are the same, the later one gives way. */
function withNames(found: readonly Argument[]): (Argument & { argument: string })[] {
  const used = new Set<string>()
  return found.map((one) => {
    const plain = worded(one.name)
      .replace(/^(?![A-Za-z_])/, '_')
      .slice(0, 60)
    const place = one.to.in === 'whole_body' ? 'body' : one.to.in
    const candidates = [
      plain,
      `${place}_${plain}`.slice(0, 60),
      ...Array.from({ length: 1_000 }, (_, index) => `${plain.slice(0, 55)}_${index + 2}`),
    ]
    const argument = candidates.find((name) => !used.has(name) && !TAKEN.includes(name)) as string
    used.add(argument)
    return { ...one, argument }
  })
}

/** Said only where it is not what happens anyway. */
function destination(argument: string, name: string, to: Argument['to'], usual: string): [string, ArgumentLocation][] {
  if (to.in === 'path') return []
  if (to.in === usual && argument === name && to.style === undefined) return []
  return [[argument, { ...to, ...(argument === name || to.in === 'whole_body' ? {} : { name: name.slice(0, 200) }) }]]
}
