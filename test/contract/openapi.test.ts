import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { Type } from 'typebox'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createRolesDocument } from '../../scripts/roles.ts'
import { RESPONSE_EVENTS } from '../../src/contract/openai/response-events.ts'
import { createOpenapiDocument } from '../../src/contract/openapi.ts'
import { OpenapiSchemas } from '../../src/contract/openapi-schemas.ts'
import { ALL_ROUTES, FAMILIES } from '../../src/contract/routes.ts'
import { nullable, object } from '../../src/contract/schemas/fields.ts'
import { version } from '../../src/version.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const test = suite('openapi')
const document = JSON.parse(JSON.stringify(createOpenapiDocument(version))) as Json
const operations: { name: string; operation: Json }[] = Object.entries(document.paths as Json).flatMap(([path, methods]) =>
  Object.entries(methods as Json).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
)

test('docs/openapi.json is up to date with the contract', () => {
  const kept = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
  assert.ok(kept === `${JSON.stringify(document, null, 2)}\n`, 'docs/openapi.json is out of date: npm run openapi')
})

test('summaries use the correct indefinite article', () => {
  for (const { name, operation } of operations) assert.not.match(operation.summary, /\ba (?:[aeio]|MCP)|\ban (?!MCP)(?:us|[^aeiouA])/, name)
})

test('docs/roles.md is up to date with the contract', () => {
  assert.is(readFileSync(new URL('../../docs/roles.md', import.meta.url), 'utf8'), createRolesDocument())
})

test('the OpenAPI document has no lint errors', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  const messages = problems.map(({ severity, ruleId, message, location }) => `${severity} ${ruleId}: ${message} at ${location[0]?.pointer}`)
  assert.equal(messages, [])
})

test('every example is valid against its schema', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addFormat('currency', /^[A-Z]{3}$/)
  ajv.addFormat('iso-date', /^\d{4}-\d\d-\d\d/)
  ajv.addSchema(document, 'openapi')
  let checked = 0
  const visit = (value: Json, pointer: string): void => {
    if (value === null || typeof value !== 'object') return
    const examples = Array.isArray(value.examples) ? value.examples : []
    for (const example of examples) {
      const validate = ajv.compile({ $ref: `openapi#${pointer}` })
      assert.ok(validate(example), `${pointer}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(example)}`)
      checked++
    }
    for (const [key, part] of Object.entries(value))
      if (key !== 'examples') visit(part, `${pointer}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
  }
  visit(document, '')
  assert.ok(checked > 60, `only ${checked} examples`)
})

test('every resource schema, create schema and update schema has an example', () => {
  for (const { resource, create, update } of FAMILIES)
    for (const schema of [resource, create, update] as Json[]) assert.ok(schema.examples?.length > 0, schema.title)
})

/** Calls the visitor with every schema that has fields, and whether it is the schema of a component. */
function visitObjects(visitor: (schema: Json, pointer: string, isComponent: boolean) => void): void {
  const visit = (value: Json, pointer: string, isComponent: boolean): void => {
    if (value === null || typeof value !== 'object') return
    if (value.type === 'object' && value.properties) visitor(value, pointer, isComponent)
    for (const [key, part] of Object.entries(value as Json)) if (key !== 'examples') visit(part, `${pointer}/${key}`, false)
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) visit(schema, name, true)
  visit(document.paths, '', false)
}

test('every object except the envelope is a named schema', () => {
  visitObjects(({ properties }, pointer, isComponent) => {
    if (!isComponent) assert.is(Object.keys(properties)[0], 'success', `${pointer} has no title`)
  })
  for (const name of ['Agent', 'Citation', 'ConfirmationRequiredEvent', 'Message', 'Passage', 'ToolCall'])
    assert.ok(document.components.schemas[name], name)
})

test('schemas with the same name are equal', () => {
  const schemas = new OpenapiSchemas()
  schemas.convert(object({ a: Type.String() }, { title: 'Same' }))
  schemas.convert(Type.Optional(object({ a: Type.String() }, { title: 'Same' })))
  assert.throws(() => schemas.convert(object({ b: Type.String() }, { title: 'Same' })), /Two different schemas are named Same/)
})

test('a named schema that can be null is a reference or null', () => {
  const named = object({ a: Type.String() }, { title: 'Named', description: 'Why.' })
  const schemas = new OpenapiSchemas()
  assert.equal(schemas.convert(nullable(named)), { description: 'Why.', anyOf: [{ $ref: '#/components/schemas/Named' }, { type: 'null' }] })
  assert.is(schemas.listComponents().Named?.type, 'object')
})

test('an optional field describes its default, and an update has no defaults', () => {
  visitObjects(({ properties, required = [] }, pointer) => {
    for (const [name, field] of Object.entries(properties as Json))
      if ((field as Json).default !== undefined) assert.ok(required.includes(name), `${pointer}.${name} has a default`)
  })
  const { APIToolCreate, APIToolUpdate } = document.components.schemas
  assert.is(APIToolCreate.properties.timeout_ms.description, 'Request timeout, in milliseconds. Default: 30000.')
  assert.is(APIToolUpdate.properties.timeout_ms.description, 'Request timeout, in milliseconds.')
})

test('a body is required unless the service accepts a request without it', async () => {
  const optional = operations.filter(({ operation }) => operation.requestBody?.required === false).map(({ name }) => name)
  assert.equal(optional, [
    'post /api/prompt-templates/{id}/render',
    'post /api/conversations/{id}/compact',
    'post /api/evaluations/{id}/run',
    'post /api/api-tools/{id}/test',
    'post /api/mcp-tools/{id}/test',
    'post /api/webhooks/{id}/rotate-secret',
  ])
  const server = await TestServer.start()
  try {
    for (const name of optional) {
      const { status, text } = await server.post(name.replace('post /api', '').replace('{id}', 'none'))
      assert.is(status, 404, `${name}: ${text}`)
    }
  } finally {
    await server.close()
  }
})

test('every stream documents its events and how to resume it', () => {
  const streams = operations.flatMap(({ name, operation }) => {
    const content = operation.responses['200']?.content?.['text/event-stream']
    const canResume = (operation.parameters ?? []).some((parameter: Json) => parameter.name === 'Last-Event-ID')
    return content ? [{ name, canResume, events: Object.keys(content['x-events']), content }] : []
  })
  const calls = ['tool_call', 'confirmation_required', 'tool_result']
  const reply = ['message_start', 'retrieval', ...calls, 'reasoning_delta', 'message_delta', 'message_end', 'error']
  const response = Object.keys(RESPONSE_EVENTS)
  const published = [
    'conversation.completed',
    'evaluation.finished',
    'memory.created',
    'memory.updated',
    'memory.deleted',
    'usage.threshold_exceeded',
  ]
  assert.equal(
    streams.map(({ name, canResume, events }) => [name, canResume, events]),
    [
      ['post /api/backups', false, ['progress', 'backup_end', 'error']],
      ['get /api/knowledge-sources/{id}/sync/events', false, ['progress', 'sync_end', 'error']],
      ['post /api/conversations/{id}/messages', false, reply],
      ['get /api/conversations/{id}/messages/{message_id}/events', true, reply],
      ['get /api/evaluations/{id}/runs/{run_id}/events', false, ['progress', 'end', 'error']],
      ['get /api/events', true, ['ready', ...published, 'error']],
      ['post /v1/chat/completions', false, ['message', 'error']],
      ['post /v1/responses', false, response],
    ],
  )
  for (const { name, content } of streams) {
    const references = content.schema.anyOf.map(({ $ref }: Json) => $ref)
    assert.equal(new Set(Object.values(content['x-events'])), new Set(references), name)
  }
})

test('every field has a description', () => {
  const visit = (schema: Json, where: string): void => {
    for (const [name, field] of Object.entries((schema.properties ?? {}) as Json)) {
      assert.ok((field as Json).description || (field as Json).$ref || (field as Json).const !== undefined, `${where}.${name}`)
      visit(field, `${where}.${name}`)
    }
  }
  for (const [name, schema] of Object.entries(document.components.schemas as Json)) visit(schema, name)
})

test('route identifiers and pairs of method and path are unique', () => {
  const unique = (words: string[]) => assert.is(new Set(words).size, words.length)
  unique(ALL_ROUTES.map(({ id }) => id))
  unique(ALL_ROUTES.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`))
  unique(operations.map(({ operation }) => operation.operationId))
  assert.is(operations.length, ALL_ROUTES.length)
})

test('the path parameters of an operation match its path', () => {
  for (const { name, operation } of operations) {
    const named = (operation.parameters ?? []).filter((parameter: Json) => parameter.in === 'path').map((parameter: Json) => parameter.name)
    assert.equal(
      named,
      [...name.matchAll(/\{(\w+)\}/g)].map(([, inside]) => inside),
      name,
    )
  }
})

test('every input schema says whether it accepts additional fields', () => {
  const visit = (schema: Json, where: string): void => {
    if (schema === null || typeof schema !== 'object') return
    if (schema.type === 'object' && schema.properties) assert.ok(schema.additionalProperties !== undefined, where)
    for (const [key, part] of Object.entries(schema)) if (key !== 'examples' && key !== 'example') visit(part, `${where}.${key}`)
  }
  for (const { name, operation } of operations) visit(operation.requestBody?.content['application/json'].schema, name)
  for (const [name, schema] of Object.entries(document.components.schemas as Json)) if (/(Create|Update)$/.test(name)) visit(schema, name)
})

test('the daemon serves the same OpenAPI document', async () => {
  const server = await TestServer.start()
  try {
    const { body } = await server.get('/openapi.json', { as: null })
    assert.equal(body, document)
  } finally {
    await server.close()
  }
})

test.run()
