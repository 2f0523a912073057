import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ToolPlanner } from '../../daemon/api-tools/openapi/tool-planner.ts'
import type { Json } from '../harness/test-server.ts'

const test = suite('hostile OpenAPI documents')
const planner = new ToolPlanner()
const options = { prefix: '', variables: {}, includeDeprecated: false, server: 'https://api.example.com' }
const base = { openapi: '3.1.0', info: { title: 't', version: '1' } }
const body = (schema: Json) => ({ requestBody: { content: { 'application/json': { schema } } } })
const posting = (schema: Json, schemas: Json = {}) =>
  JSON.stringify({ ...base, paths: { '/a': { post: body(schema) } }, components: { schemas } })

/** Returns the number of tools, or why the document is refused. */
async function importDocument(text: string): Promise<string> {
  try {
    const { tools, skipped } = await planner.plan({ text, options }, 'document')
    return skipped[0]?.reason ?? `${tools.length} tools`
  } catch (error) {
    return (error as Error).message
  }
}

test('YAML aliases that expand to gigabytes are rejected', async () => {
  const lines = ['openapi: 3.1.0', 'a0: &a0 [x, x, x, x, x, x, x, x, x]']
  for (let level = 1; level < 30; level++)
    lines.push(
      `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    )
  assert.match(await importDocument(lines.join('\n')), 'it is not YAML: Excessive alias count')
})

test('YAML that contains itself is rejected', async () => {
  assert.match(await importDocument('openapi: 3.1.0\npaths: &p\n  /a: {get: {x: *p}}\n'), /nests deeper|more than 1000000 values|not YAML/)
})

test('a document that nests too deeply is rejected', async () => {
  for (const text of [
    `{"openapi":"3.1.0","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    `openapi: 3.1.0\nx: ${'['.repeat(3_000)}${']'.repeat(3_000)}`,
  ])
    assert.match(await importDocument(text), /nests deeper than 200 levels|is not YAML|is not JSON/)
})

test('densely connected schemas are truncated', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `S${index}`)
  const refs = names.map((name) => ({ $ref: `#/components/schemas/${name}` }))
  const schemas = Object.fromEntries(
    names.map((name) => [
      name,
      { type: 'object', properties: Object.fromEntries(names.map((other, index) => [other, refs[index]])), anyOf: refs },
    ]),
  )
  assert.is(await importDocument(posting(refs[0], schemas)), '1 tools')
})

test('allOf that doubles at each level is bounded', async () => {
  const schemas: Json = { S0: { type: 'object', properties: { a: {} } } }
  for (let level = 1; level < 100; level++)
    schemas[`S${level}`] = { allOf: [{ $ref: `#/components/schemas/S${level - 1}` }, { $ref: `#/components/schemas/S${level - 1}` }] }
  assert.is(await importDocument(posting({ $ref: '#/components/schemas/S99' }, schemas)), '1 tools')
})

test('a body with too many fields is skipped', async () => {
  const properties = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field_${index}`, { type: 'string' }]))
  assert.match(await importDocument(posting({ type: 'object', properties })), 'too large to be described')
})

test('a document with too many operations is rejected', async () => {
  const paths = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`/p${index}`, { get: {} }]))
  assert.match(await importDocument(JSON.stringify({ ...base, paths })), 'it has 20000 operations; at most 500 can be imported at once')
})

test('circular references are skipped with a reason', async () => {
  const chain = { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } }
  assert.is(await importDocument(posting({ $ref: '#/components/schemas/A' }, chain)), '1 tools')
  const parameters = { paths: { '/a': { get: { parameters: [{ $ref: '#/paths/~1a/get/parameters/0' }] } } } }
  assert.match(await importDocument(JSON.stringify({ ...base, ...parameters })), 'refers to itself')
})

test('names of inherited properties are handled as plain names', async () => {
  const schema = '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}'
  const requestBody = `{"content":{"application/json":{"schema":${schema}}}}`
  const text = `{"openapi":"3.1.0","paths":{"/a":{"post":{"requestBody":${requestBody}}}}}`
  assert.is(await importDocument(text), '1 tools')
  assert.is(({} as Json).type, undefined)
})

test('expensive patterns are not evaluated during an import', async () => {
  const evil = ['^(a+)+$', '(a|'.repeat(9_000) + ')'.repeat(9_000), `${'.*'.repeat(400)}x`]
  const properties = Object.fromEntries(evil.map((pattern, index) => [`p${index}`, { type: 'string', pattern }]))
  assert.is(await importDocument(posting({ type: 'object', properties })), '1 tools')
})

test.run()
