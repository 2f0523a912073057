/** Reads the fields to change from the body of PUT and PATCH. Clients can send a resource back as they read it. */
import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import type { Family } from '../../src/contract/crud.ts'
import { type CadreError, createValidationError } from '../../src/contract/errors.ts'
import { getFields, getInitialValue } from '../../src/contract/schemas/fields.ts'
import { isObject, mergePatch } from './merge-patch.ts'

type Fields = Record<string, unknown>

interface UpdateBody {
  id: string
  body: unknown
  /** Checks fields against the update schema of the family. */
  check: (value: unknown) => CadreError | undefined
  /** Whether objects and nulls in the body are merged into the current resource. */
  isPatch: boolean
}

/** Returns valid fields. Throws the first error of a field that is neither valid nor unchanged. */
export async function readUpdate(family: Family, update: UpdateBody, readCurrent: () => Promise<unknown>): Promise<Fields> {
  const { body, check, isPatch } = update
  if (!isObject(body)) throw check(body)
  const needsMerge = isPatch && Object.values(body).some((value) => value === null || isObject(value))
  if (!needsMerge && !check(body)) return body
  const current = toJson(await readCurrent())
  return removeUnchangedFields(family, update, needsMerge ? mergeFields(family, update, body, current) : body, current)
}

function mergeFields(family: Family, { check }: UpdateBody, body: Fields, current: Fields): Fields {
  const mergeField = (name: string, patch: unknown): unknown => {
    if (patch === null) return resetField(family, check, name)
    if (!isObject(patch)) return patch
    const merged = mergePatch(current[name], patch)
    // A value that has several forms, such as a price or a type of authentication, can also be replaced by another form.
    const replaced = mergePatch({}, patch)
    return check({ [name]: merged }) && !check({ [name]: replaced }) ? replaced : merged
  }
  return Object.fromEntries(Object.entries(body).map(([name, patch]) => [name, mergeField(name, patch)]))
}

/**
 * Returns null if the field can be null, otherwise the value of a new resource, or undefined if that is computed. A required field
 * stays null, which is not valid.
 */
function resetField({ create, resource, computedDefaults }: Family, check: UpdateBody['check'], name: string): unknown {
  if (computedDefaults?.includes(name)) return undefined
  const schema = getFields(create)[name] ?? getFields(resource)[name]
  const { required = [] } = create as TSchema & { required?: string[] }
  return schema === undefined || required.includes(name) || !check({ [name]: null }) ? null : getInitialValue(schema)
}

/** Removes invalid fields that equal the current resource. */
function removeUnchangedFields({ serverFields = [] }: Family, { id, check }: UpdateBody, body: Fields, current: Fields): Fields {
  const outdatedFields = body.id === id ? ['updated_at', ...serverFields] : []
  let fields = body
  for (let problem = check(fields); problem; problem = check(fields)) {
    const [name = ''] = problem.details?.[0]?.field.split('.') ?? []
    if (!Object.hasOwn(fields, name) || !Object.hasOwn(current, name)) throw problem
    if (!outdatedFields.includes(name) && !isDeepStrictEqual(fields[name], current[name]))
      throw isUnknownField(problem, name) ? createValidationError(name, 'cannot be changed', UNCHANGED_HINT) : problem
    const { [name]: _, ...others } = fields
    fields = others
  }
  return fields
}

const UNCHANGED_HINT = 'Omit the field, or send its current value.'
const isUnknownField = ({ details }: CadreError, name: string): boolean =>
  details?.[0]?.field === name && details[0].problem === 'is not a known field'

const toJson = (value: unknown): Fields => JSON.parse(JSON.stringify(value))
