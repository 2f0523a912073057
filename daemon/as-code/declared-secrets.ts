/** Secrets of a declared resource: given, or named by variables that are not set where it is applied. */
import { isDeepStrictEqual } from 'node:util'
import { createSigningSecret } from '../../src/webhook-signature.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Fields, Kind } from './kinds.ts'
import { secretFields } from './writing.ts'

export interface Unset {
  field: string
  variables: string[]
}

export interface DeclaredSecrets {
  /** Fields whose values are all here. */
  given: string[]
  /** Fields with a variable that is not set, where what is there can stay. */
  kept: Unset[]
  /** Fields with a variable that is not set, where nothing can stay. */
  missing: Unset[]
}

export function declaredSecrets(kind: Kind, fields: Fields, current: StoredRecord | undefined): DeclaredSecrets {
  const named = secretFields(kind).filter((field) => fields[field] !== undefined)
  const unset = named.map((field) => ({ field, variables: variablesIn(fields[field]) })).filter(({ variables }) => variables.length > 0)
  const stays = ({ field }: Unset) => current !== undefined && looksTheSame(kind, field, fields, current)
  return {
    given: named.filter((field) => !unset.some((one) => one.field === field)),
    kept: unset.filter(stays),
    missing: unset.filter((one) => !stays(one)),
  }
}

/** The fields with something in place of what is missing, to see what would become of the rest. Signing secrets are what every field of a secret takes. */
export const withStandIns = (fields: Fields, missing: readonly Unset[]): Fields => ({
  ...fields,
  ...Object.fromEntries(missing.map(({ field }) => [field, stoodIn(fields[field])])),
})

function stoodIn(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (variableOf(value) !== undefined) return createSigningSecret()
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, stoodIn(inner)]))
}

/** Whether a field that cannot be compared at least looks as what is there: the same headers, the same kind of authentication. */
function looksTheSame(kind: Kind, field: string, fields: Fields, current: StoredRecord): boolean {
  const there = kind.secrets?.(current as unknown as Fields, () => MASK)[field]
  return there !== undefined && isDeepStrictEqual(masked(fields[field], there), there)
}

const MASK = '***'

function variablesIn(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return []
  return variableOf(value) ?? Object.values(value).flatMap(variablesIn)
}

/** What {env: NAME} names. */
function variableOf(value: object): string[] | undefined {
  const { env } = value as { env?: unknown }
  return typeof env === 'string' && Object.keys(value).length === 1 ? [env] : undefined
}

/** The declared value with a mask wherever the present one has its secrets. */
function masked(declared: unknown, present: unknown): unknown {
  if (present === MASK) return declared === null || declared === undefined ? declared : MASK
  if (declared === null || typeof declared !== 'object' || present === null || typeof present !== 'object') return declared
  const spelled = (present as Fields).type === 'api_key' ? { in: 'header', ...declared } : declared
  return Object.fromEntries(Object.entries(spelled).map(([name, value]) => [name, masked(value, (present as Fields)[name])]))
}
