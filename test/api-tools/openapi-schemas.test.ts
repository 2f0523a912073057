import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ReferenceResolver } from '../../daemon/api-tools/openapi/reference-resolver.ts'
import { SchemaConverter } from '../../daemon/api-tools/openapi/schema-converter.ts'
import { createValidator } from '../../daemon/validation/validator.ts'
import type { Json } from '../harness/test-server.ts'

const test = suite('schemas of OpenAPI documents')
const validator = createValidator()

function converted(schema: Json, components: Json = {}, dialect: '3.0' | '3.1' = '3.0'): { built: Json; isTruncated: boolean } {
  const found = new SchemaConverter(new ReferenceResolver({ components: { schemas: components } }), dialect).buildToFit((convert) =>
    convert(schema),
  )
  assert.is(validator.validateSchema({ type: 'object', properties: { x: found.built } }), undefined)
  return found
}
const of = (...given: Parameters<typeof converted>) => converted(...given).built
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

test('nested references are inlined', () => {
  const components = {
    Pet: { type: 'object', properties: { owner: ref('Owner') } },
    Owner: { type: 'object', properties: { name: { type: 'string' } } },
  }
  assert.equal(of({ type: 'array', items: ref('Pet') }, components), {
    type: 'array',
    items: { type: 'object', properties: { owner: { type: 'object', properties: { name: { type: 'string' } } } } },
  })
  assert.equal(of({ ...ref('Owner'), description: 'whose it is' }, components).description, 'whose it is')
  assert.equal(of({ $ref: '#/components/schemas/a~1b%20c' }, { 'a/b c': { type: 'string' } }), { type: 'string' })
})

test('a circular reference is inlined once and then replaced by its type', () => {
  const { built, isTruncated } = converted(ref('Node'), {
    Node: { type: 'object', description: 'A node.', properties: { next: ref('Node'), list: { type: 'array', items: ref('Node') } } },
  })
  const open = { type: 'object', description: 'Node: A node.' }
  assert.equal(built, { type: 'object', description: 'A node.', properties: { next: open, list: { type: 'array', items: open } } })
  assert.is(isTruncated, true)
  assert.is(converted({ type: 'string' }).isTruncated, false)
})

test('a schema that is too long is inlined less deeply', () => {
  const wide = (next: Json) => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`field_${index}`, next])),
  })
  const components = { A: wide(ref('B')), B: wide(ref('C')), C: wide(ref('D')), D: wide({ type: 'string' }) }
  const { built, isTruncated } = converted(ref('A'), components)
  assert.is(isTruncated, true)
  assert.ok(JSON.stringify(built).length <= 20_000)
  assert.is(Object.keys(built.properties).length, 10)
})

test('nullable of OpenAPI 3.0 becomes a null type or an anyOf', () => {
  assert.equal(of({ type: 'string', nullable: true }), { type: ['string', 'null'] })
  assert.equal(of({ type: 'string', nullable: true, enum: ['a'] }), { type: ['string', 'null'], enum: ['a', null] })
  assert.equal(of({ nullable: true, allOf: [ref('A')] }, { A: { type: 'string' } }), { type: ['string', 'null'] })
  assert.equal(of({ nullable: true, oneOf: [{ type: 'string' }] }), { anyOf: [{ anyOf: [{ type: 'string' }] }, { type: 'null' }] })
  assert.equal(of({ type: 'string', nullable: true }, {}, '3.1'), { type: 'string' })
  assert.equal(of({ type: ['string', 'null'] }, {}, '3.1'), { type: ['string', 'null'] })
})

test('boolean exclusive limits of OpenAPI 3.0 become numbers', () => {
  assert.equal(of({ type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false }), {
    type: 'number',
    exclusiveMinimum: 1,
    maximum: 9,
  })
  assert.equal(of({ type: 'number', exclusiveMinimum: 1 }, {}, '3.1'), { type: 'number', exclusiveMinimum: 1 })
})

test('allOf is merged if that is lossless', () => {
  const components = { Base: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } }
  assert.equal(of({ allOf: [ref('Base'), { properties: { name: {} }, required: ['name'] }], description: 'both' }, components), {
    type: 'object',
    description: 'both',
    properties: { id: { type: 'string' }, name: {} },
    required: ['id', 'name'],
  })
  assert.equal(of({ allOf: [ref('Base')], description: 'one' }, components), { ...components.Base, description: 'one' })
  assert.equal(
    of({
      allOf: [
        { type: 'string', minLength: 1 },
        { type: 'string', maxLength: 2 },
      ],
    }),
    {
      allOf: [
        { type: 'string', minLength: 1 },
        { type: 'string', maxLength: 2 },
      ],
    },
  )
  const both = of({ allOf: [ref('Base'), { properties: { id: { type: 'string', minLength: 3 } } }] }, components)
  assert.equal(both.properties.id, { allOf: [{ type: 'string' }, { type: 'string', minLength: 3 }] })
})

test('read-only properties are omitted', () => {
  assert.equal(
    of({
      type: 'object',
      properties: { id: { type: 'string', readOnly: true }, secret: { type: 'string', writeOnly: true } },
      required: ['id', 'secret'],
    }),
    {
      type: 'object',
      properties: { secret: { type: 'string' } },
      required: ['secret'],
    },
  )
})

test('invalid keywords are dropped', () => {
  assert.equal(
    of({
      type: 'file',
      enum: [],
      minimum: 'x',
      multipleOf: 0,
      required: true,
      pattern: '(',
      properties: { a: { pattern: '\\-' }, b: 5, c: true },
      example: 1,
      xml: {},
      discriminator: { propertyName: 'a' },
      $id: 'http://x/y',
      $dynamicRef: '#z',
      'x-more': 1,
    }),
    { properties: { a: {}, b: {}, c: {} } },
  )
  assert.equal(of(true), {})
  assert.equal(of({ enum: ['a', 'a', 1] }), { enum: ['a', 1] })
})

test.run()
