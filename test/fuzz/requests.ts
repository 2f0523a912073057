/** Generates valid, nearly valid and invalid requests from the OpenAPI document. */
import fc from 'fast-check'
import { ROLES } from '../../src/contract/route.ts'
import type { Json } from '../harness/test-server.ts'

export interface FuzzRequest {
  operationId: string
  method: string
  /** With placeholders such as `{id}`. */
  path: string
  /** The value of each placeholder: the number of an existing resource, or a text. */
  params: Record<string, number | string>
  query: [string, string][]
  /** `raw` is sent unchanged. */
  body: { json: unknown } | { raw: string } | undefined
  headers: Record<string, string>
  as: string | null
}

/** Operations that would call other servers; they get identifiers that do not exist and no URL. */
const OUTGOING = new RegExp(
  '^(knowledgeSourcesSync|modelsTest|modelsDiscover|apiTools(Test|Import)|mcpTools(Discover|Test)|mcpServers(Authorize|Token)|' +
    'webhooksTest|messagesSend|conversationsCompact|evaluationsRun)',
)

const WORDS = [
  '',
  ' ',
  'a',
  '0',
  '-1',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  "' OR 1=1 --",
  '../../etc/passwd',
  '%00',
  '\u0000',
  '\ud800',
  '💥',
  'ﷺ'.repeat(50),
  'x'.repeat(3_000),
  '__proto__',
  'constructor',
  '{{x}}',
  '${x}',
  '<script>',
  '1e999',
  '9'.repeat(30),
  '\r\nX: y',
  'NaN',
]
/** Any code point. fast-check's unit 'binary' takes a second to build its table for shrinking, which sampling does not need. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((index) => String.fromCodePoint(index < 0xd800 ? index : index + 0x800))
const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
  { weight: 2, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 2, arbitrary: fc.string({ maxLength: 20 }) },
)
const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
  anyText,
  fc.constantFrom(null, 0, -1, 1e308, 2 ** 53, true, [], {}, [[]], ''),
)

export function arbitraryRequest(document: Json): fc.Arbitrary<FuzzRequest> {
  const shaped = createSchemaArbitraries(document)
  const operations = Object.entries(document.paths as Json).flatMap(([path, methods]) =>
    Object.entries(methods as Json).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation: operation as Json })),
  )
  return fc.oneof(...operations.map((one) => arbitraryOperationRequest(one, shaped)))
}

function arbitraryOperationRequest(
  { path, method, operation }: { path: string; method: string; operation: Json },
  shaped: (schema: Json) => fc.Arbitrary<unknown>,
): fc.Arbitrary<FuzzRequest> {
  const parameters = (operation.parameters ?? []) as Json[]
  const placed = (where: string) => parameters.filter((parameter) => parameter.in === where)
  const isOutgoing = OUTGOING.test(operation.operationId)
  const params = fc.record(Object.fromEntries(placed('path').map(({ name }) => [name, arbitraryParam(isOutgoing)])))
  const known = placed('query').map(({ name, schema }) =>
    fc.tuple(
      fc.constant(name as string),
      fc.oneof({ weight: 3, arbitrary: shaped(schema).map(String) }, { weight: 1, arbitrary: anyText }),
    ),
  )
  const query = fc.array(fc.oneof(...known, fc.tuple(anyText, anyText)), { maxLength: 3 })
  // Admins could create knowledge sources with paths of this machine.
  const roles = operation.operationId.startsWith('knowledgeSources') ? ROLES.filter((role) => role !== 'admin') : ROLES
  const body = arbitraryBody(operation.requestBody?.content['application/json'].schema, shaped)
  return fc.record({
    operationId: fc.constant(operation.operationId as string),
    method: fc.oneof(
      { weight: 30, arbitrary: fc.constant(method) },
      { weight: 1, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS') },
    ),
    path: fc.oneof(
      { weight: 9, arbitrary: fc.constant(path) },
      { weight: 1, arbitrary: fc.constantFrom(path.replace('/api/', '/api/v1/'), `${path}/`, `${path}/more`) },
    ),
    params,
    query: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: query }) as fc.Arbitrary<[string, string][]>,
    body: isOutgoing ? body.map(removeUrl) : body,
    headers: arbitraryHeaders(),
    as: fc.oneof(
      { weight: 12, arbitrary: fc.constant(roles[0] as string) },
      { weight: 3, arbitrary: fc.constantFrom(...roles) },
      { weight: 1, arbitrary: fc.constantFrom(null, 'wrong', 'cadre_x') },
    ),
  })
}

const arbitraryParam = (nobody: boolean): fc.Arbitrary<number | string> =>
  nobody
    ? fc.constantFrom('nobody', 'x')
    : fc.oneof(
        { weight: 6, arbitrary: fc.nat(1_000_000) as fc.Arbitrary<number | string> },
        { weight: 1, arbitrary: fc.constant('nobody') },
        { weight: 1, arbitrary: anyText },
      )

function arbitraryBody(schema: Json | undefined, shaped: (schema: Json) => fc.Arbitrary<unknown>): fc.Arbitrary<FuzzRequest['body']> {
  const junk = fc.oneof(
    anyJson.map((json) => ({ json })),
    anyText.map((raw) => ({ raw })),
    fc.constantFrom('{', '{"__proto__":1}', '\ufeff{}', '[').map((raw) => ({ raw })),
  )
  if (!schema) return fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: junk })
  const valid = shaped(schema)
  return fc.oneof(
    { weight: 6, arbitrary: valid.map((json) => ({ json })) },
    { weight: 5, arbitrary: arbitraryInvalid(valid).map((json) => ({ json })) },
    { weight: 1, arbitrary: junk },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
}

function removeUrl(body: FuzzRequest['body']): FuzzRequest['body'] {
  if (!body || 'raw' in body || body.json === null || typeof body.json !== 'object' || !('url' in body.json)) return body
  const { url: _, ...json } = body.json
  return { json }
}

/** Changes, adds or removes one field of a valid value. */
function arbitraryInvalid(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(valid, fc.constantFrom('change', 'add', 'remove', 'deep'), fc.nat(100), anyText, anyJson)
    .map(([value, how, at, name, other]) => {
      if (value === null || typeof value !== 'object' || Array.isArray(value)) return other
      const entries = Object.entries(value)
      const [key = 'name', part] = entries[at % Math.max(1, entries.length)] ?? []
      if (how === 'add') return { ...value, [name]: other }
      if (how === 'remove') return Object.fromEntries(entries.filter(([each]) => each !== key))
      if (how === 'deep' && Array.isArray(part)) return { ...value, [key]: [...part, other] }
      if (how === 'deep' && part !== null && typeof part === 'object') return { ...value, [key]: { ...part, [name]: other } }
      return { ...value, [key]: other }
    })
}

function arbitraryHeaders(): fc.Arbitrary<Record<string, string>> {
  const visible = fc.string({ minLength: 1, maxLength: 30 })
  const some = fc.oneof(
    visible.map((value) => ({ 'idempotency-key': value })),
    fc.constantFrom('*', '"x"', 'W/"x"', '').map((value) => ({ 'if-match': value })),
    fc
      .constantFrom('text/plain', 'application/json; charset=utf-8', 'application/xml', 'multipart/form-data', 'a/b/c', '')
      .map((value) => ({ 'content-type': value })),
    fc.constantFrom('text/html', 'application/xml', '*/*').map((value) => ({ accept: value })),
    fc.constantFrom('evil.example', 'localhost', '127.0.0.1:1', '').map((value) => ({ host: value })),
    fc.constantFrom('null', 'http://evil.example', 'http://127.0.0.1').map((value) => ({ origin: value })),
    fc.constantFrom('Basic x', 'Bearer', 'Bearer  ', 'bearer x y').map((value) => ({ authorization: value })),
    fc
      .tuple(fc.constantFrom('x-request-id', 'x-forwarded-for', 'x-http-method-override', 'range', 'cookie', 'expect'), visible)
      .map(([name, value]) => ({ [name]: value })),
  )
  return fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: some }) as fc.Arbitrary<Record<string, string>>
}

/** Creates arbitraries of values for schemas of the document. */
function createSchemaArbitraries(document: Json): (schema: Json) => fc.Arbitrary<unknown> {
  const known = new Map<Json, fc.Arbitrary<unknown>>()
  const resolved = (schema: Json): Json =>
    schema.$ref
      ? String(schema.$ref)
          .slice(2)
          .split('/')
          .reduce((part: Json, name) => part[name], document)
      : schema
  const of = (given: Json): fc.Arbitrary<unknown> => {
    const schema = resolved(given)
    const made = known.get(schema) ?? make(schema)
    known.set(schema, made)
    return made
  }
  const make = (schema: Json): fc.Arbitrary<unknown> => {
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if (schema.oneOf || schema.anyOf) return fc.oneof(...(schema.oneOf ?? schema.anyOf).map(of))
    const types = [schema.type].flat().filter(Boolean)
    if (types.length === 0) return anyJson
    return fc.oneof(...types.map((type) => arbitraryOfType(type, schema, of)))
  }
  return of
}

function arbitraryOfType(type: string, schema: Json, of: (schema: Json) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const { minimum = -1e6, maximum = 1e6, minLength = 0, maxLength = 50 } = schema
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.oneof(
        fc.integer({ min: Math.max(minimum, -(2 ** 31)), max: Math.min(maximum, 2 ** 31 - 1) }),
        fc.constantFrom(minimum, maximum),
      )
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true })
    case 'array':
      return (
        schema.uniqueItems
          ? fc.uniqueArray(of(schema.items ?? {}), {
              minLength: schema.minItems ?? 0,
              maxLength: 3,
              selector: (item) => JSON.stringify(item),
            })
          : fc.array(of(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 3 })
      ) as fc.Arbitrary<unknown>
    case 'object':
      return arbitraryObject(schema, of)
    default:
      if (schema.format === 'date-time')
        return fc.date({ min: new Date('2026-01-01'), max: new Date('2090-01-01'), noInvalidDate: true }).map((date) => date.toISOString())
      if (String(schema.pattern).includes('://')) return arbitraryUrl
      if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern)).map((text) => text.slice(0, maxLength))
      return fc.oneof(
        { weight: 4, arbitrary: fc.string({ minLength, maxLength: Math.min(maxLength, 30) }) },
        { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 30) }) },
      )
  }
}

/** Shared by all fields: creating it takes milliseconds. */
const arbitraryUrl = fc.webPath().map((path) => `https://fuzz.invalid${path.replaceAll(/[{}]/g, '')}`)

/** Fields that refer to a resource of a family; an existing identifier is inserted when the request is sent. */
const REFERENCES: Record<string, string> = {
  model_id: 'models',
  default_model_id: 'models',
  agent_id: 'agents',
  target_id: 'agents',
  entity_id: 'agents',
  prompt_template_id: 'prompt-templates',
  knowledge_source_id: 'knowledge-sources',
  mcp_server_id: 'mcp-servers',
}
const reference = (family: string) => fc.nat(1_000_000).map((number) => `@${family}:${number}`)

function withReferences(name: string, otherwise: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const family = REFERENCES[name]
  const one = family ? reference(family) : undefined
  const many =
    name === 'tools'
      ? fc.array(fc.oneof(reference('rag-tools'), reference('api-tools'), reference('mcp-tools')), { maxLength: 2 })
      : name === 'knowledge_source_ids'
        ? fc.array(reference('knowledge-sources'), { minLength: 1, maxLength: 2 })
        : undefined
  const some = one ?? many
  return some ? fc.oneof({ weight: 5, arbitrary: some as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: otherwise }) : otherwise
}

function arbitraryObject(schema: Json, of: (schema: Json) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Json)
  if (properties.length === 0)
    return fc.dictionary(fc.string({ maxLength: 8 }), fc.oneof(fc.string({ maxLength: 10 }), fc.integer(), fc.boolean()), { maxKeys: 3 })
  const fields = Object.fromEntries(properties.map(([name, field]) => [name, withReferences(name, of(field))]))
  return fc.record(fields, { requiredKeys: schema.required ?? [] })
}
