/** Classifies the secrets of a declared resource: provided, or read from unset environment variables. */
import { isDeepStrictEqual } from 'node:util'
import { createSigningSecret } from '../../src/webhook-signature.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Fields, Kind } from './kinds.ts'
import { listSecretFields } from './record-fields.ts'

interface UnsetSecret {
  field: string
  variables: string[]
}

interface DeclaredSecrets {
  /** Fields with all values set. */
  provided: string[]
  /** Fields with unset variables whose stored secret is kept. */
  kept: UnsetSecret[]
  /** Fields with unset variables and no stored secret to keep. */
  missing: UnsetSecret[]
}

export function classifySecrets(kind: Kind, fields: Fields, current: StoredRecord | undefined): DeclaredSecrets {
  const declared = listSecretFields(kind).filter((field) => fields[field] !== undefined)
  const unset = declared
    .map((field) => ({ field, variables: listVariables(fields[field]) }))
    .filter(({ variables }) => variables.length > 0)
  const canKeep = ({ field }: UnsetSecret) => current !== undefined && looksUnchanged(kind, field, fields, current)
  return {
    provided: declared.filter((field) => !unset.some((secret) => secret.field === field)),
    kept: unset.filter(canKeep),
    missing: unset.filter((secret) => !canKeep(secret)),
  }
}

/** Replaces missing secrets so that the other fields can be validated. Every secret field accepts a signing secret. */
export const withPlaceholders = (fields: Fields, missing: readonly UnsetSecret[]): Fields => ({
  ...fields,
  ...Object.fromEntries(missing.map(({ field }) => [field, toPlaceholder(fields[field])])),
})

function toPlaceholder(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (parseVariable(value) !== undefined) return createSigningSecret()
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toPlaceholder(inner)]))
}

/** Compares the public parts of a secret field, such as header names and the type of authentication. */
function looksUnchanged(kind: Kind, field: string, fields: Fields, current: StoredRecord): boolean {
  const stored = kind.referenceSecrets?.(current as unknown as Fields, () => MASK)[field]
  return stored !== undefined && isDeepStrictEqual(mask(fields[field], stored), stored)
}

const MASK = '***'

function listVariables(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return []
  return parseVariable(value) ?? Object.values(value).flatMap(listVariables)
}

/** Parses {env: NAME}. */
function parseVariable(value: object): string[] | undefined {
  const { env } = value as { env?: unknown }
  return typeof env === 'string' && Object.keys(value).length === 1 ? [env] : undefined
}

/** Masks the declared value wherever the current one has secrets. */
function mask(declared: unknown, current: unknown): unknown {
  if (current === MASK) return declared === null || declared === undefined ? declared : MASK
  if (declared === null || typeof declared !== 'object' || current === null || typeof current !== 'object') return declared
  const complete = (current as Fields).type === 'api_key' ? { in: 'header', ...declared } : declared
  return Object.fromEntries(Object.entries(complete).map(([name, value]) => [name, mask(value, (current as Fields)[name])]))
}
