/** Resolves references to secrets, ${env:NAME}, from the environment of the CLI. */
import { readEnvironmentVariable } from '../../config.ts'
import { type ManagedFamily, SECRET_FIELDS } from '../../contract/families/as-code.ts'
import { type Body, isObject } from '../input/input-reader.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

type FindVariable = (name: string) => string | undefined

const REFERENCE = /\$\{env:([A-Za-z_]\w*)\}/g

/** Resolves only secret fields. Unset variables become {env: NAME}, which the service reports as missing. */
export function resolveSecrets(family: ManagedFamily, fields: Body, file: string, variable: FindVariable = readEnvironmentVariable): Body {
  const secret = SECRET_FIELDS[family] ?? []
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field,
      secret.includes(field) ? resolveValue(value, `${file}: ${field}`, variable) : value,
    ]),
  )
}

function resolveValue(value: unknown, where: string, variable: FindVariable): unknown {
  if (typeof value === 'string') return resolveText(value, where, variable)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolveValue(inner, `${where}.${name}`, variable)]))
}

function resolveText(text: string, where: string, variable: FindVariable): string | { env: string } {
  if (text.replaceAll(REFERENCE, '').includes('${env:'))
    throw new UsageError(`${where} has an invalid reference.`, 'Use ${env:NAME}, with letters, digits and _.')
  const names = [...text.matchAll(REFERENCE)].map(([, name]) => name as string)
  const unset = names.find((name) => variable(name) === undefined)
  return unset === undefined ? text.replaceAll(REFERENCE, (_, name: string) => variable(name) ?? '') : { env: unset }
}
