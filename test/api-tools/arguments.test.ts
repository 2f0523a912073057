import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ArgumentValidator } from '../../daemon/validation/argument-validator.ts'
import { createValidator } from '../../daemon/validation/validator.ts'
import { CadreError } from '../../src/contract/errors.ts'

const test = suite('arguments of API tools')
const checks = new ArgumentValidator(createValidator())
let made = 0

function problem(parameters: Record<string, unknown>, args: Record<string, unknown>): { message: string; hint: string } | undefined {
  try {
    checks.validate({ id: `api_${++made}`, version: 1, parameters: { type: 'object', ...parameters } }, args)
  } catch (error) {
    assert.instance(error, CadreError)
    assert.is((error as CadreError).code, 'VALIDATION_ERROR')
    return { message: (error as CadreError).message, hint: (error as CadreError).hint ?? '' }
  }
  return undefined
}

test('arguments are validated against the schema, and errors name the argument', () => {
  const parameters = { properties: { city: { type: 'string', minLength: 2 }, days: { type: 'integer' } }, required: ['city'] }
  assert.is(problem(parameters, { city: 'Lisbon', days: 3 }), undefined)
  assert.is(problem(parameters, {})?.message, 'arguments.city: is required.')
  assert.is(problem(parameters, { city: 5 })?.message, 'arguments.city: must be string, not number.')
  assert.is(problem(parameters, { city: 'Lisbon', days: '3' })?.message, 'arguments.days: must be integer, not string.')
  assert.match(problem({ properties: { a: { type: 'array', items: { enum: ['x'] } } } }, { a: ['x', 'y'] })?.message ?? '', 'arguments.a.1')
})

test('undeclared arguments are rejected, unless the schema allows additional properties', () => {
  const parameters = { properties: { city: {} } }
  assert.match(problem(parameters, { city: 'x', citty: 'y' })?.message ?? '', 'arguments.citty: is not an argument')
  assert.match(problem(parameters, { citty: 'y' })?.hint ?? '', 'Did you mean "city"')
  assert.match(problem({}, { admin: true })?.hint ?? '', 'It takes no arguments')
  assert.match(problem(parameters, { constructor: 1 })?.message ?? '', 'arguments.constructor')
  assert.is(problem({ ...parameters, additionalProperties: true }, { more: 1 }), undefined)
  assert.is(problem({ ...parameters, additionalProperties: { type: 'integer' } }, { more: 1 }), undefined)
  assert.match(problem({ ...parameters, additionalProperties: { type: 'integer' } }, { more: 'x' })?.message ?? '', 'arguments.more')
  assert.is(problem({ allOf: [{ properties: { b: {} } }] }, { b: 1 }), undefined)
})

test('a changed tool is validated with its new schema', () => {
  const tool = (version: number, type: string) => ({
    id: 'api_changing',
    version,
    parameters: { type: 'object', properties: { a: { type } } },
  })
  checks.validate(tool(1, 'string'), { a: 'x' })
  checks.validate(tool(2, 'number'), { a: 1 })
  assert.throws(() => checks.validate(tool(2, 'number'), { a: 'x' }), /must be number/)
})

test('a pattern with catastrophic backtracking is stopped by the time limit', () => {
  const evil = `${'a'.repeat(60)}!`
  for (const pattern of ['^(a+)+$', '(x+x+)+y|^(a|a)+$', '^(([a-z])+.)+[A-Z]([a-z])+$']) {
    assert.match(
      problem({ properties: { a: { type: 'string', pattern } } }, { a: evil })?.message ?? '',
      'arguments: cannot be validated in reasonable time',
      pattern,
    )
    assert.is(
      problem({ properties: { a: { type: 'string', pattern } } }, { a: 'aaaa' })?.message.includes('reasonable time') ?? false,
      false,
    )
  }
  assert.match(problem({ patternProperties: { '^(a+)+$': { type: 'string' } } }, { [evil]: 1 })?.message ?? '', 'reasonable time')
})

test('a schema with exponential self-references is stopped by the time limit', () => {
  const twice = { allOf: [{ properties: { a: { $ref: '#/definitions/x' } } }, { required: ['never'] }] }
  const definitions = { x: { anyOf: [twice, twice, { properties: { a: { $ref: '#/definitions/x' } } }] } }
  let deep: unknown = {}
  for (let level = 0; level < 60; level++) deep = { a: deep }
  assert.match(problem({ definitions, properties: { a: { $ref: '#/definitions/x' } } }, { a: deep })?.message ?? '', 'reasonable time')
})

test('arguments that nest too deeply are rejected', () => {
  let deep: unknown = {}
  for (let level = 0; level < 5_000; level++) deep = [deep]
  assert.match(problem({ properties: { a: {} } }, { a: deep })?.message ?? '', 'nests deeper than 100')
})

test('a pattern that would exhaust memory is not a valid schema', () => {
  const validator = createValidator()
  const pattern = '(a|'.repeat(5_000) + ')'.repeat(5_000)
  for (const schema of [{ properties: { a: { pattern } } }, { patternProperties: { [pattern]: { type: 'string' } } }])
    assert.match(validator.validateSchema({ type: 'object', ...schema }) ?? '', 'longer than 1000 characters')
  assert.is(validator.validateSchema({ type: 'object', properties: { a: { pattern: 'x'.repeat(1_000) } } }), undefined)
})

test.run()
