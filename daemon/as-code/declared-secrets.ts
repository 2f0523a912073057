/** Secrets of a declared resource: given, or named by variables that are not set where it is applied. */
import { isDeepStrictEqual } from 'node:util'
import { createSigningSecret } from '../../src/webhook-signature.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Fields, Kind } from './kinds.ts'
import { listSecretFields } from './record-fields.ts'

export interface UnsetSecret {
  field: string
  variables: string[]
}

export interface DeclaredSecrets {
  /** Fields whose values are all here. */
  provided: string[]
  /** Fields with a variable that is not set, where what is there can stay. */
  kept: UnsetSecret[]
  /** Fields with a variable that is not set, where nothing can stay. */
  missing: UnsetSecret[]
}

export function classifySecrets(kind: Kind, fields: Fields, current: StoredRecord | undefined): DeclaredSecrets {
  const named = listSecretFields(kind).filter((field) => fields[field] !== undefined)
  const unset = named.map((field) => ({ field, variables: listVariables(fields[field]) })).filter(({ variables }) => variables.length > 0)
  const stays = ({ field }: UnsetSecret) => current !== undefined && looksUnchanged(kind, field, fields, current)
  return {
    provided: named.filter((field) => !unset.some((one) => one.field === field)),
    kept: unset.filter(stays),
    missing: unset.filter((one) => !stays(one)),
  }
}

/** The fields with something in place of what is missing, to see what would become of the rest. Signing secrets are what every field of a secret takes. */
export const withPlaceholders = (fields: Fields, missing: readonly UnsetSecret[]): Fields => ({
  ...fields,
  ...Object.fromEntries(missing.map(({ field }) => [field, toPlaceholder(fields[field])])),
})

function toPlaceholder(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (parseVariable(value) !== undefined) return createSigningSecret()
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toPlaceholder(inner)]))
}

/** Whether a field that cannot be compared at least looks as what is there: the same headers, the same kind of authentication. */
function looksUnchanged(kind: Kind, field: string, fields: Fields, current: StoredRecord): boolean {
  const there = kind.referenceSecrets?.(current as unknown as Fields, () => MASK)[field]
  return there !== undefined && isDeepStrictEqual(mask(fields[field], there), there)
}

const MASK = '***'

function listVariables(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return []
  return parseVariable(value) ?? Object.values(value).flatMap(listVariables)
}

/** What {env: NAME} names. */
function parseVariable(value: object): string[] | undefined {
  const { env } = value as { env?: unknown }
  return typeof env === 'string' && Object.keys(value).length === 1 ? [env] : undefined
}

/** The declared value with a mask wherever the present one has its secrets. */
function mask(declared: unknown, present: unknown): unknown {
  if (present === MASK) return declared === null || declared === undefined ? declared : MASK
  if (declared === null || typeof declared !== 'object' || present === null || typeof present !== 'object') return declared
  const spelled = (present as Fields).type === 'api_key' ? { in: 'header', ...declared } : declared
  return Object.fromEntries(Object.entries(spelled).map(([name, value]) => [name, mask(value, (present as Fields)[name])]))
}
