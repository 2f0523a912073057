/** Converts records to the fields of files: in the contract's order, with names for ids, without defaults. */
import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import { SECRET_FIELDS } from '../../src/contract/families/as-code.ts'
import { getFields, getInitialValue } from '../../src/contract/schemas/fields.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Fields, Kind, SecretReference } from './kinds.ts'
import { type ResourceDirectory, replaceIdsWithNames } from './references.ts'

/** Lists the fields that a file may contain, in order. */
export const listFileFields = ({ family, fields }: Kind): readonly string[] => fields ?? Object.keys(getFields(family.create))

export const listSecretFields = ({ name }: Kind): readonly string[] => SECRET_FIELDS[name] ?? []

/** Excludes secrets. */
export function getPlainFields(kind: Kind, record: StoredRecord, directory: ResourceDirectory): Fields {
  const secrets = new Set(listSecretFields(kind))
  const stored = kind.redact?.(record as unknown as Fields) ?? (record as unknown as Fields)
  const defaults = getFields(kind.family.resource)
  const required = (kind.family.create as { required?: string[] }).required ?? []
  const fields = listFileFields(kind).filter(
    (field) =>
      !secrets.has(field) &&
      stored[field] !== undefined &&
      (required.includes(field) || kind.isAlwaysWritten?.(field, stored) || !isDefault(defaults[field], stored[field])),
  )
  return replaceIdsWithNames(directory, kind.references, Object.fromEntries(fields.map((field) => [field, stored[field]])))
}

export function toFileFields(kind: Kind, record: StoredRecord, directory: ResourceDirectory, reference: SecretReference): Fields {
  const all = { ...getPlainFields(kind, record, directory), ...kind.referenceSecrets?.(record as unknown as Fields, reference) }
  return Object.fromEntries(listFileFields(kind).flatMap((field) => (field in all ? [[field, all[field]]] : [])))
}

const isDefault = (schema: TSchema | undefined, value: unknown): boolean =>
  schema !== undefined && isDeepStrictEqual(getInitialValue(schema), value)
