/** Accepts read-only fields with their current values, so that a client can send a resource back as it was read. */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { CurrentResource } from './binding.ts'

type Fields = Record<string, unknown>

/** Removes invalid fields that equal the current resource from the body; throws the first error of another field. */
export async function removeUnchangedFields(
  { body, params, caller }: FastifyRequest,
  check: (value: unknown) => CadreError | undefined,
  resource: CurrentResource,
): Promise<unknown> {
  let problem = check(body)
  if (!problem || caller === undefined || body === null || typeof body !== 'object' || Array.isArray(body)) return body
  const { id } = params as { id: string }
  const serverFields = (body as Fields).id === id ? resource.serverFields : []
  let fields = body as Fields
  let current: Fields | undefined
  while (problem) {
    const [name = ''] = problem.details?.[0]?.field.split('.') ?? []
    if (!Object.hasOwn(fields, name)) throw problem
    current ??= await resource.read(caller, id).then(toJson, replaceError('NOT_FOUND', problem))
    if (!Object.hasOwn(current, name)) throw problem
    if (!serverFields.includes(name) && !isDeepStrictEqual(fields[name], current[name]))
      throw isUnknownField(problem, name) ? createValidationError(name, 'cannot be changed', UNCHANGED_HINT) : problem
    const { [name]: _, ...others } = fields
    fields = others
    problem = check(fields)
  }
  return fields
}

const UNCHANGED_HINT = 'Omit the field, or send its current value.'
const isUnknownField = ({ details }: CadreError, name: string): boolean =>
  details?.[0]?.field === name && details[0].problem === 'is not a known field'

const toJson = (value: unknown): Fields => JSON.parse(JSON.stringify(value))

const replaceError =
  (code: CadreError['code'], instead: CadreError) =>
  (error: unknown): never => {
    throw error instanceof CadreError && error.code === code ? instead : error
  }
