/** A resource may be sent back whole, as it was read: what cannot be changed may say what it says already. */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import type { Caller } from '../caller.ts'

type Fields = Record<string, unknown>

/** The body without the fields that are refused and say nothing new; throws what is wrong with the first that does. */
export async function withoutUnchanged(
  { body, params, caller }: FastifyRequest,
  check: (value: unknown) => CadreError | undefined,
  standing: (caller: Caller, id: string) => Promise<unknown>,
): Promise<unknown> {
  let problem = check(body)
  if (!problem || caller === undefined || body === null || typeof body !== 'object' || Array.isArray(body)) return body
  let left = body as Fields
  let shown: Fields | undefined
  while (problem) {
    const [name = ''] = problem.details?.[0]?.field.split('.') ?? []
    if (!Object.hasOwn(left, name)) throw problem
    shown ??= await standing(caller, (params as { id: string }).id).then(asSent, unless('NOT_FOUND', problem))
    if (!Object.hasOwn(shown, name) || !isDeepStrictEqual(left[name], shown[name])) throw problem
    const { [name]: _, ...others } = left
    left = others
    problem = check(left)
  }
  return left
}

/** Without what JSON does not know. */
const asSent = (value: unknown): Fields => JSON.parse(JSON.stringify(value))

const unless =
  (code: CadreError['code'], instead: CadreError) =>
  (error: unknown): never => {
    throw error instanceof CadreError && error.code === code ? instead : error
  }
