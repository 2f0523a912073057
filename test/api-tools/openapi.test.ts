import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Plan, type PlannedTool, type PlanOptions, planTools } from '../../daemon/api-tools/openapi/plan-tools.ts'
import { createValidator } from '../../daemon/validation/validator.ts'
import type { Json } from '../harness/test-server.ts'

const test = suite('tools from OpenAPI documents')

const defaults: PlanOptions = { prefix: '', variables: {}, includeDeprecated: false }
const base = { openapi: '3.1.0', info: { title: 'Pets', version: '2' }, servers: [{ url: 'https://api.example.com/v1/' }] }
const plan = (document: Json, options: Partial<PlanOptions> = {}): Plan =>
  planTools(typeof document === 'string' ? document : JSON.stringify({ ...base, ...document }), { ...defaults, ...options })

/** The tool of one operation. */
function tool(operation: Json, { method = 'get', path = '/x', ...document }: Json = {}, options: Partial<PlanOptions> = {}): PlannedTool {
  const { tools, skipped } = plan({ paths: { [path]: { [method]: operation } }, ...document }, options)
  assert.is(tools.length, 1, JSON.stringify(skipped))
  return tools[0] as PlannedTool
}
const whyNot = (operation: Json, more: Json = {}): string => {
  const { method = 'get', path = '/x', ...document } = more
  return plan({ paths: { [path]: { [method]: operation } }, ...document }).skipped[0]?.reason ?? 'it became a tool'
}
const problem = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return [(error as Error).message, (error as { hint?: string }).hint].filter(Boolean).join(' / ')
  }
  return 'nothing wrong'
}
const query = (name: string, fields: Json = {}) => ({ in: 'query', name, schema: { type: 'string' }, ...fields })
const json = (schema: Json, fields: Json = {}) => ({
  requestBody: { required: true, content: { 'application/json': { schema } }, ...fields },
})

test('an operation becomes a tool with the parameters of its path and its own', () => {
  const yaml = `
openapi: 3.0.3
info: {title: Pets, version: 1.0}
servers: [{url: 'https://{region}.example.com/v1', variables: {region: {default: eu, enum: [eu, us]}}}]
paths:
  /pets/{petId}:
    parameters:
      - {in: path, name: petId, required: true, schema: {type: integer}}
      - {in: query, name: lang, schema: {type: string}, description: old}
    get:
      operationId: showPet
      summary: Show a pet
      description: All there is to know about it.
      parameters:
        - {in: query, name: lang, schema: {type: string, enum: [en, de]}, description: Language of the answer}
        - {in: header, name: X-Trace, schema: {type: string}}
        - {in: header, name: Accept, schema: {type: string}}
`
  const { title, tools } = plan(yaml)
  assert.is(title, 'Pets')
  assert.equal(tools, [
    {
      operation: 'GET /pets/{petId}',
      name: 'showPet',
      description: 'Show a pet\n\nAll there is to know about it.',
      method: 'GET',
      url: 'https://eu.example.com/v1/pets/{petId}',
      parameters: {
        type: 'object',
        properties: {
          petId: { type: 'integer' },
          lang: { type: 'string', enum: ['en', 'de'], description: 'Language of the answer' },
          'X-Trace': { type: 'string' },
        },
        required: ['petId'],
        additionalProperties: false,
      },
      locations: { 'X-Trace': { in: 'header' } },
      body_format: 'json',
      contentType: undefined,
      security: [],
      notes: [],
    },
  ])
  assert.is(plan(yaml, { variables: { region: 'us' } }).tools[0]?.url, 'https://us.example.com/v1/pets/{petId}')
  assert.match(plan(yaml, { variables: { region: 'mars' } }).skipped[0]?.reason ?? '', 'one of eu, us')
})

test('body fields become arguments, renamed if a parameter has the same name', () => {
  const schema = {
    type: 'object',
    properties: { id: { type: 'string' }, name: { type: 'string' }, made: { type: 'string', readOnly: true } },
    required: ['id', 'made'],
  }
  const { parameters, locations, url } = tool(
    { ...json(schema), parameters: [query('id'), query('dry', { required: true })] },
    { method: 'put', path: '/pets/{id}' },
  )
  assert.is(url, 'https://api.example.com/v1/pets/{id}')
  assert.equal(parameters, {
    type: 'object',
    properties: {
      query_id: { type: 'string' },
      dry: { type: 'string' },
      id: { type: 'string' },
      body_id: { type: 'string' },
      name: { type: 'string' },
    } as Json,
    required: ['id', 'dry', 'body_id'],
    additionalProperties: false,
  } satisfies Json)
  assert.equal(locations, { query_id: { in: 'query', name: 'id' }, dry: { in: 'query' }, body_id: { in: 'body', name: 'id' } })
})

test('a body that is not a plain object becomes one argument', () => {
  const list = tool(json({ type: 'array', items: { type: 'integer' } }), { method: 'post' })
  assert.equal(
    [list.parameters.properties, list.locations],
    [{ body: { type: 'array', items: { type: 'integer' } } }, { body: { in: 'whole_body' } }],
  )
  const choice = tool(json({ oneOf: [{ type: 'string' }, { type: 'number' }] }), { method: 'post' })
  assert.equal(choice.parameters.properties, { body: { anyOf: [{ type: 'string' }, { type: 'number' }] } })
  assert.is(tool(json({ type: 'object', properties: { a: {} } }, { required: false }), { method: 'post' }).parameters.required, undefined)
  assert.equal(
    tool(json({ type: 'object', properties: { a: {} }, additionalProperties: { type: 'string' } }), { method: 'post' }).parameters
      .additionalProperties,
    { type: 'string' },
  )
})

test('DELETE may have a body, GET may not', () => {
  assert.equal(tool(json({ type: 'object', properties: { why: {} } }), { method: 'delete' }).locations, { why: { in: 'body' } })
  const get = tool(json({ type: 'object', properties: { why: {} } }))
  assert.equal([get.parameters.properties, get.notes.length], [{}, 1])
})

test('forms and JSON content types with a suffix are supported', () => {
  const content = (type: string, fields: Json = {}) => ({
    requestBody: { content: { [type]: { schema: { type: 'object', properties: { a: {}, b: {} } }, ...fields } } },
  })
  const form = tool(content('application/x-www-form-urlencoded', { encoding: { b: { style: 'deepObject', explode: true } } }), {
    method: 'post',
  })
  assert.equal([form.body_format, form.locations], ['form', { b: { in: 'body', style: 'brackets' } }])
  assert.is(tool(content('application/merge-patch+json'), { method: 'patch' }).contentType, 'application/merge-patch+json')
  assert.is(tool(content('application/json; charset=utf-8'), { method: 'post' }).body_format, 'json')
})

test('lists and objects in the query keep their style', () => {
  const list = { type: 'array', items: { type: 'string' } }
  const parameters = [
    query('repeated', { schema: list }),
    query('joined', { schema: list, explode: false }),
    query('deep', { schema: { type: 'object' }, style: 'deepObject' }),
    { in: 'query', name: 'json', content: { 'application/json': { schema: { type: 'object' } } } },
    query('spread', { schema: { type: 'object', properties: { from: {}, to: {} }, required: ['from'] }, required: true }),
    query('piped', { schema: list, style: 'pipeDelimited' }),
    query('page[number]'),
    query('$top'),
    query('__proto__'),
  ]
  const { parameters: schema, locations, notes } = tool({ parameters })
  assert.equal(locations, {
    joined: { in: 'query', style: 'comma' },
    deep: { in: 'query', style: 'brackets' },
    json: { in: 'query', style: 'json' },
    page_number: { in: 'query', name: 'page[number]' },
    top: { in: 'query', name: '$top' },
    proto: { in: 'query', name: '__proto__' },
  })
  assert.equal(
    [Object.keys(schema.properties as object).slice(0, 6), schema.required],
    [['repeated', 'joined', 'deep', 'json', 'from', 'to'], ['from']],
  )
  assert.match(notes[0] ?? '', 'piped')
  assert.match(whyNot({ parameters: [query('piped', { schema: list, style: 'pipeDelimited', required: true })] }), 'query parameter piped')
})

test('undeclared, list and oddly named path parameters are supported', () => {
  const found = tool(
    { parameters: [{ in: 'path', name: 'ids', schema: { type: 'array', items: { enum: ['a', 'b'] } } }] },
    { path: '/a/{ids}/{pet id}/{x}' },
  )
  assert.is(found.url, 'https://api.example.com/v1/a/{ids}/{pet_id}/{x}')
  assert.equal(found.parameters.required, ['ids', 'pet_id', 'x'])
  assert.match(JSON.stringify(found.parameters.properties), 'Several values of a, b, separated by commas')
  assert.match(whyNot({ parameters: [{ in: 'path', name: 'x', style: 'matrix', schema: {} }] }, { path: '/{x}' }), 'path parameter x')
})

test('tool names come from the operationId, else from method and path, and are unique', () => {
  assert.is(tool({ operationId: 'pets/list all' }).name, 'pets_list_all')
  assert.is(tool({}, { path: '/pets/{id}/toys' }).name, 'get_pets_id_toys')
  const { tools } = plan({ paths: { '/a': { get: { operationId: 'same' } }, '/b': { get: { operationId: 'same' } } } }, { prefix: 'p_' })
  assert.equal(
    tools.map(({ name }) => name),
    ['p_same', 'p_get_b'],
  )
})

test('unsupported operations are skipped with a reason', () => {
  const content = (type: string) => ({ requestBody: { content: { [type]: {} } } })
  assert.match(whyNot(content('multipart/form-data'), { method: 'post' }), 'It takes multipart/form-data')
  assert.match(whyNot(content('application/octet-stream'), { method: 'post' }), 'It takes application/octet-stream')
  assert.match(whyNot({ responses: { 200: { content: { 'image/png': {} } } } }), 'It returns image/png')
  assert.match(whyNot({ responses: { 200: { content: { 'text/event-stream': {} } } } }), 'It returns text/event-stream')
  assert.match(whyNot({ deprecated: true }), 'It is deprecated')
  assert.match(whyNot({}, { method: 'head' }), 'HEAD requests are not supported')
  assert.match(whyNot({ parameters: [{ $ref: 'other.yaml#/x' }] }), 'refers to another document (other.yaml#/x)')
  assert.match(whyNot({ parameters: [{ $ref: '#/components/nothing' }] }), '#/components/nothing does not exist')
  assert.match(
    whyNot({ parameters: [{ $ref: '#/components/a' }] }, { components: { a: { $ref: '#/components/b' }, b: { $ref: '#/components/a' } } }),
    'refers to itself',
  )
  assert.match(whyNot({ parameters: [{ in: 'header', name: 'Cookie', required: true }] }), 'header parameter Cookie')
  assert.is(tool({ deprecated: true }, {}, { includeDeprecated: true }).method, 'GET')
})

test('operations are selected by id, tag, path and method, with wildcards', () => {
  const paths = {
    '/pets': { get: { operationId: 'listPets', tags: ['read'] }, post: { operationId: 'addPet' } },
    '/pets/{id}': { get: { operationId: 'getPet', tags: ['read', 'one'] } },
    '/toys': { get: {} },
  }
  const chosen = (...only: string[]) => plan({ paths }, { only }).tools.map(({ operation }) => operation)
  assert.equal(chosen('addPet', 'GET /toys'), ['POST /pets', 'GET /toys'])
  assert.equal(chosen('tag:read'), ['GET /pets', 'GET /pets/{id}'])
  assert.equal(chosen('/pets'), ['GET /pets', 'POST /pets'])
  assert.equal(chosen('get /pets*'), ['GET /pets', 'GET /pets/{id}'])
  assert.equal(chosen('*Pet'), ['POST /pets', 'GET /pets/{id}'])
  assert.match(
    problem(() => chosen('lstPets')),
    'no operation matches "lstPets" / Did you mean "listPets"?',
  )
  assert.match(
    problem(() => chosen('tag:nothing')),
    'no operation matches "tag:nothing"',
  )
})

test('the server comes from the operation, the path, the document, its URL or the caller', () => {
  const at = (document: Json, options: Partial<PlanOptions> = {}) =>
    plan({ paths: { '/x': { get: {} } }, ...document }, options).tools[0]?.url
  assert.is(
    at({ paths: { '/x': { servers: [{ url: 'https://b.example' }], get: { servers: [{ url: 'https://c.example/c/' }] } } } }),
    'https://c.example/c/x',
  )
  assert.is(at({ paths: { '/x': { servers: [{ url: 'https://b.example' }], get: {} } } }), 'https://b.example/x')
  assert.is(at({ servers: [{ url: '/api/v3' }] }, { documentUrl: 'https://d.example/docs/openapi.json' }), 'https://d.example/api/v3/x')
  assert.is(at({ servers: undefined }, { documentUrl: 'https://d.example/docs/openapi.json' }), 'https://d.example/x')
  assert.is(at({}, { server: 'http://127.0.0.1:8000/' }), 'http://127.0.0.1:8000/x')
  assert.match(
    problem(() => at({ servers: [{ url: '/api/v3' }] })),
    'has no absolute server URL, only /api/v3 / Set the base URL: --server',
  )
  assert.match(
    problem(() => at({ servers: [{ url: 'https://{tenant}.example' }] })),
    'needs a value for {tenant} / Set it: --server-variable tenant=',
  )
})

test('security requirements of an operation are listed as alternatives', () => {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'query', name: 'k' },
    basic: { type: 'http', scheme: 'Basic' },
    jwt: { type: 'http', scheme: 'bearer' },
    oauth: { type: 'oauth2', flows: {} },
    mtls: { type: 'mutualTLS' },
  }
  const of = (security: Json) => tool({ security }, { components: { securitySchemes }, security: [{ jwt: [] }] }).security
  assert.equal(of(undefined), [[{ scheme: 'jwt', kind: 'bearer' }]])
  assert.equal(of([]), [])
  assert.equal(of([{ key: [], basic: [] }, { oauth: ['read'] }, { mtls: [] }, {}]), [
    [
      { scheme: 'key', kind: 'api_key', name: 'k', in: 'query' },
      { scheme: 'basic', kind: 'basic' },
    ],
    [{ scheme: 'oauth', kind: 'bearer' }],
    [{ scheme: 'mtls', kind: 'other' }],
    [],
  ])
})

test('the OpenAPI document of Cadre imports as tools with valid schemas', () => {
  const { tools, skipped } = plan(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'), {
    server: 'http://127.0.0.1:7411',
  })
  const validator = createValidator()
  assert.ok(tools.length > 80)
  for (const { name, parameters } of tools) assert.is(validator.validateSchema(parameters), undefined, name)
  for (const { reason } of skipped) assert.match(reason, 'text/event-stream')
})

test.run()
