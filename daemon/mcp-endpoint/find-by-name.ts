/** Finds resources by ID or name, as models and users refer to them. */
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import type { Caller } from '../core/caller.ts'
import type { Resource } from '../crud/resource.ts'
import type { StoredRecord } from '../store/records.ts'

/** Names need not be unique. */
export async function findByName<R extends StoredRecord, I extends object, V>(
  resource: Resource<R, I, V>,
  caller: Caller,
  reference: string,
): Promise<R> {
  const { database, records, family } = resource
  if (await resource.exists(database, reference)) return resource.require(database, caller, reference)
  const [found, another] = await records.find(database, { name: reference }, 2)
  if (!found) throw createNotFoundError(family.noun, reference)
  if (another)
    throw new CadreError('CONFLICT', `There are several ${family.noun}s "${reference}".`, {
      hint: `Use an ID, such as ${found.id} or ${another.id}.`,
    })
  return resource.require(database, caller, found.id)
}
