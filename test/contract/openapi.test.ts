import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createRolesDocument } from '../../.build/roles.ts'
import { createOpenapiDocument } from '../../src/contract/openapi.ts'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
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
  for (const { name, operation } of operations) assert.not.match(operation.summary, /\ba [aeio]|\ban (?:us|[^aeiouA])/, name)
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
  for (const [name, schema] of Object.entries(document.components.schemas as Json)) {
    if (/Item$/.test(name)) continue
    assert.ok((schema as Json).examples?.length > 0, name)
  }
})

test('every field has a description', () => {
  const visit = (schema: Json, where: string): void => {
    for (const [name, field] of Object.entries((schema.properties ?? {}) as Json)) {
      assert.ok((field as Json).description || (field as Json).$ref || (field as Json).const !== undefined, `${where}.${name}`)
      visit(field, `${where}.${name}`)
    }
  }
  for (const [name, schema] of Object.entries(document.components.schemas as Json))
    if (!['Error', 'Pagination'].includes(name)) visit(schema, name)
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
