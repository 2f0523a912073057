/** Names flags instead of fields in errors of the service. */
import { ServiceError } from '../../client/errors.ts'
import { CadreError, type ErrorDetail } from '../../contract/errors.ts'

interface CommandFlags {
  flags?: Record<string, { aliases?: string[] | undefined }>
}

const toKebabCase = (field: string) => field.replaceAll('_', '-')

/** References are given by name, so their flags have no _id suffix. */
function findFlag(field: string, flags: NonNullable<CommandFlags['flags']>): string | undefined {
  const name = toKebabCase(field)
  const short = name.replace(/-ids?$/, '')
  return [name, short].find((each) => each in flags) ?? Object.keys(flags).find((flag) => flags[flag]?.aliases?.includes(name))
}

/** Returns `--scorers`, or `--scorers: threshold` for a part of its value; undefined if no flag of the command sets the field. */
function formatFlag(field: string, flags: NonNullable<CommandFlags['flags']>, argv: readonly string[]): string | undefined {
  const isTyped = (flag: string) => argv.some((word) => word === `--${flag}` || word.startsWith(`--${flag}=`))
  // The fields of a configuration have flags of their own.
  const segments = field.replace(/^configuration\.(?=\w)/, (prefix) => (isTyped('configuration') ? prefix : '')).split('.')
  const flag = findFlag(segments[0] ?? '', flags)
  if (flag === undefined || (isTyped('file') && !isTyped(flag))) return undefined
  const rest = segments.slice(1).filter((segment) => !/^\d+$/.test(segment))
  return rest.length === 0 ? `--${flag}` : `--${flag}: ${rest.join('.')}`
}

/** Programs that read JSON get the fields of the API. */
export function nameFlags(error: Error, { flags = {} }: CommandFlags, argv: readonly string[]): Error {
  const [detail] = error instanceof ServiceError ? (error.details ?? []) : []
  if (!(error instanceof ServiceError) || error.code !== 'VALIDATION_ERROR' || detail === undefined || argv.includes('--json')) return error
  const rename = ({ field, problem }: ErrorDetail) => ({ field: formatFlag(field, flags, argv) ?? field, problem })
  const prefix = `${detail.field}: `
  const renamed = rename(detail)
  const isRenamed = renamed.field !== detail.field && error.message.startsWith(prefix)
  const message = isRenamed ? `${renamed.field} ${error.message.slice(prefix.length)}` : error.message
  return new CadreError(error.code, message, { hint: error.hint, details: error.details?.map(rename), cause: error })
}
