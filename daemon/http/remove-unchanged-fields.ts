/** A resource may be sent back whole, as it was read: what cannot be changed may say what it says already. */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import type { CurrentResource } from './binding.ts'

type Fields = Record<string, unknown>

/** The body without the fields that are refused and say nothing new; throws what is wrong with the first that does. */
export async function removeUnchangedFields(
  { body, params, caller }: FastifyRequest,
  check: (value: unknown) => CadreError | undefined,
  standing: CurrentResource,
): Promise<unknown> {
  let problem = check(body)
  if (!problem || caller === undefined || body === null || typeof body !== 'object' || Array.isArray(body)) return body
  const { id } = params as { id: string }
  const notes = (body as Fields).id === id ? standing.serverFields : []
  let left = body as Fields
  let shown: Fields | undefined
  while (problem) {
    const [name = ''] = problem.details?.[0]?.field.split('.') ?? []
    if (!Object.hasOwn(left, name)) throw problem
    shown ??= await standing.read(caller, id).then(toJson, replaceError('NOT_FOUND', problem))
    if (!Object.hasOwn(shown, name)) throw problem
    if (!notes.includes(name) && !isDeepStrictEqual(left[name], shown[name]))
      throw isUnknownField(problem, name) ? createValidationError(name, 'cannot be changed', UNCHANGED_HINT) : problem
    const { [name]: _, ...others } = left
    left = others
    problem = check(left)
  }
  return left
}

const UNCHANGED_HINT = 'Leave it out, or send it as it is now.'
const isUnknownField = ({ details }: CadreError, name: string): boolean =>
  details?.[0]?.field === name && details[0].problem === 'is not a known field'

/** Without what JSON does not know. */
const toJson = (value: unknown): Fields => JSON.parse(JSON.stringify(value))

const replaceError =
  (code: CadreError['code'], instead: CadreError) =>
  (error: unknown): never => {
    throw error instanceof CadreError && error.code === code ? instead : error
  }
