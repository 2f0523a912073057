/** A record as its file holds it: fields in the contract's order, names for identifiers, nothing that is as it would be anyway. */
import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import { SECRET_FIELDS } from '../../src/contract/families/as-code.ts'
import { getFields, getInitialValue } from '../../src/contract/schemas/fields.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Fields, Kind, SecretReference } from './kinds.ts'
import { type Directory, withNames } from './references.ts'

/** All fields that a file of this kind may hold, in order. */
export const fileFields = ({ family, fields }: Kind): readonly string[] => fields ?? Object.keys(getFields(family.create))

export const secretFields = ({ name }: Kind): readonly string[] => SECRET_FIELDS[name] ?? []

/** Without its secrets. */
export function plainFields(kind: Kind, record: StoredRecord, directory: Directory): Fields {
  const given = new Set(secretFields(kind))
  const stored = kind.shown?.(record as unknown as Fields) ?? (record as unknown as Fields)
  const defaults = getFields(kind.family.resource)
  const needed = (kind.family.create as { required?: string[] }).required ?? []
  const said = fileFields(kind).filter(
    (field) => !given.has(field) && stored[field] !== undefined && (needed.includes(field) || !isDefault(defaults[field], stored[field])),
  )
  return withNames(directory, kind.references, Object.fromEntries(said.map((field) => [field, stored[field]])))
}

export function written(kind: Kind, record: StoredRecord, directory: Directory, reference: SecretReference): Fields {
  const all = { ...plainFields(kind, record, directory), ...kind.secrets?.(record as unknown as Fields, reference) }
  return Object.fromEntries(fileFields(kind).flatMap((field) => (field in all ? [[field, all[field]]] : [])))
}

const isDefault = (schema: TSchema | undefined, value: unknown): boolean =>
  schema !== undefined && isDeepStrictEqual(getInitialValue(schema), value)
