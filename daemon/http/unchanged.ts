/** A resource may be sent back whole, as it was read: what cannot be changed may say what it says already. */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { CadreError, invalid } from '../../src/contract/errors.ts'
import type { Standing } from './binding.ts'

type Fields = Record<string, unknown>

/** The body without the fields that are refused and say nothing new; throws what is wrong with the first that does. */
export async function withoutUnchanged(
  { body, params, caller }: FastifyRequest,
  check: (value: unknown) => CadreError | undefined,
  standing: Standing,
): Promise<unknown> {
  let problem = check(body)
  if (!problem || caller === undefined || body === null || typeof body !== 'object' || Array.isArray(body)) return body
  const { id } = params as { id: string }
  const notes = (body as Fields).id === id ? standing.notes : []
  let left = body as Fields
  let shown: Fields | undefined
  while (problem) {
    const [name = ''] = problem.details?.[0]?.field.split('.') ?? []
    if (!Object.hasOwn(left, name)) throw problem
    shown ??= await standing.read(caller, id).then(asSent, unless('NOT_FOUND', problem))
    if (!Object.hasOwn(shown, name)) throw problem
    if (!notes.includes(name) && !isDeepStrictEqual(left[name], shown[name]))
      throw isUnknown(problem, name) ? invalid(name, 'cannot be changed', HINT) : problem
    const { [name]: _, ...others } = left
    left = others
    problem = check(left)
  }
  return left
}

const HINT = 'Leave it out, or send it as it is now.'
const isUnknown = ({ details }: CadreError, name: string): boolean =>
  details?.[0]?.field === name && details[0].problem === 'is not a known field'

/** Without what JSON does not know. */
const asSent = (value: unknown): Fields => JSON.parse(JSON.stringify(value))

const unless =
  (code: CadreError['code'], instead: CadreError) =>
  (error: unknown): never => {
    throw error instanceof CadreError && error.code === code ? instead : error
  }
