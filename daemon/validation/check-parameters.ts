/** Checks the JSON Schema of the arguments of a tool. */
import { createValidationError } from '../../src/contract/errors.ts'
import type { Validator } from './validator.ts'

/** Returns the schema, completed if it is empty. */
export function checkParameters(validator: Validator, parameters: Record<string, unknown>): Record<string, unknown> {
  const schema = Object.keys(parameters).length === 0 ? { type: 'object', properties: {} } : parameters
  if (schema.type !== 'object') throw createValidationError('parameters.type', 'must be "object"')
  const problem = validator.validateSchema(schema)
  if (problem) throw createValidationError('parameters', `is not a valid JSON Schema: ${problem}`)
  return schema
}
