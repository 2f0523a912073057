/** What a failed command says and exits with: what happened, why, and the command that mends it. */
import { CLIError } from '@oclif/core/errors'
import { ServiceError, UnreachableError } from '../../client/failures.ts'
import { CadreError, type ErrorDetail } from '../../contract/errors.ts'
import { paint } from './color.ts'
import { rewriteCommands } from './invocation.ts'
import { formatJsonLine } from './render.ts'
import { sanitizeText } from './text.ts'

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  denied: 4,
  unreachable: 5,
  rateLimited: 7,
  evaluationFailed: 100,
  changesPlanned: 100,
  interrupted: 130,
} as const

/** The command was called in a way that cannot work. */
export class UsageError extends Error {
  readonly hint: string | undefined
  readonly details: ErrorDetail[] | undefined

  constructor(message: string, hint?: string, details?: ErrorDetail[]) {
    super(message)
    this.name = 'UsageError'
    this.hint = hint
    this.details = details
  }
}

/** The command did its work and has bad news that it told already. */
export class ReportedError extends Error {
  readonly exitCode: number

  constructor(exitCode: number = EXIT.failed) {
    super('')
    this.name = 'QuietFailure'
    this.exitCode = exitCode
  }
}

export interface Failure {
  exitCode: number
  code: string
  error: string
  hint?: string | undefined
  details?: ErrorDetail[] | undefined
  request_id?: string | undefined
}

const EXIT_BY_CODE: Record<string, number> = {
  VALIDATION_ERROR: EXIT.usage,
  INVALID_JSON: EXIT.usage,
  NOT_FOUND: EXIT.notFound,
  UNAUTHENTICATED: EXIT.denied,
  FORBIDDEN: EXIT.denied,
  RATE_LIMITED: EXIT.rateLimited,
}

const DEFAULT_HINTS: Record<string, string> = {
  FORBIDDEN: 'An admin can make a token with another role: cadre tokens create --role editor.',
  INTERNAL: 'This is a bug; cadre daemon logs holds its cause.',
  RATE_LIMITED: 'Wait a minute, or start the daemon with a higher CADRE_RATE_LIMIT.',
  STORAGE_FULL: 'cadre status shows what takes the space, cadre doctor how much is left.',
}

/** What people at a terminal do about it; the service's own hints are for programs. */
const CLI_HINTS: Record<string, string> = {
  UNAUTHENTICATED:
    'Set CADRE_TOKEN, or keep a token with cadre config set token -. Where the daemon runs, cadre tokens recover makes a new one.',
}

/** The failure in an error of any kind. */
export function toFailure(error: unknown): Failure {
  if (error instanceof CadreError) {
    const request_id = error instanceof ServiceError ? error.requestId : undefined
    return {
      exitCode: EXIT_BY_CODE[error.code] ?? EXIT.failed,
      code: error.code,
      error: error.message,
      hint: CLI_HINTS[error.code] ?? error.hint ?? DEFAULT_HINTS[error.code],
      details: error.details,
      request_id,
    }
  }
  if (error instanceof UnreachableError) return { exitCode: EXIT.unreachable, code: 'UNREACHABLE', error: error.message, hint: error.hint }
  if (error instanceof UsageError)
    return { exitCode: EXIT.usage, code: 'USAGE', error: error.message, hint: error.hint, details: error.details }
  if (error instanceof CLIError)
    return {
      exitCode: error.oclif.exit ?? EXIT.usage,
      code: 'USAGE',
      error: error.message,
      hint: 'Add --help to see how it is called.',
    }
  return {
    exitCode: EXIT.failed,
    code: 'FAILED',
    ...(toSystemFailure(error) ?? { error: error instanceof Error ? error.message : String(error) }),
  }
}

/** What the operating system means by a code. */
const SYSTEM_ERRORS: Record<string, string> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'its file system is read-only',
  ENOSPC: 'there is no space left on its disk',
  EDQUOT: 'there is no space left for this user',
  ENOTDIR: 'a part of the path is a file',
  EISDIR: 'it is a folder',
  ENOENT: 'a part of the path is not there',
  EIO: 'its disk does not answer',
}

/** What a code means, for a sentence about a file; undefined where that is not known. */
export function describeSystemError(code: string): string | undefined {
  return SYSTEM_ERRORS[code]
}

/** A file that could not be used, in words; Node's own are for programmers. */
function toSystemFailure(error: unknown): Pick<Failure, 'error' | 'hint'> | undefined {
  const { code = '', path, syscall = '' } = error as NodeJS.ErrnoException
  const why = SYSTEM_ERRORS[code]
  if (why === undefined || path === undefined) return undefined
  const reads = ['open', 'read', 'scandir', 'stat', 'lstat', 'opendir', 'access'].includes(syscall) && code !== 'EROFS' && code !== 'ENOSPC'
  return {
    error: `${path} cannot be ${reads ? 'opened' : 'written'}: ${why} (${code}).`,
    hint: 'cadre doctor looks at the home, which CADRE_HOME can put somewhere else.',
  }
}

/** What is said when the output itself cannot be written. */
export function formatOutputFailure({ code = '', message }: NodeJS.ErrnoException): string {
  return formatFailure({
    exitCode: EXIT.failed,
    code: 'FAILED',
    error: `The output cannot be written: ${SYSTEM_ERRORS[code]?.replace('its disk', 'the disk') ?? message}.`,
  })
}

/** The failure as lines for people. */
export function formatFailure(failure: Failure): string {
  const { error, details = [], hint, request_id, exitCode } = failure
  const lines = [`${paint('red', 'Error:')} ${sanitizeText(error)}`]
  for (const { field, problem } of details.filter((detail) => !isRedundant(error, detail, details.length)))
    lines.push(`  ${sanitizeText(field)}: ${sanitizeText(problem)}`)
  if (hint) lines.push(paint('dim', sanitizeText(hint)))
  if (request_id && exitCode === EXIT.failed) lines.push(paint('dim', `Request ${sanitizeText(request_id)}`))
  return lines.join('\n')
}

/** Whether the sentence tells it already: the only problem there is, or the resource, by its identifier. */
function isRedundant(error: string, { field, problem }: ErrorDetail, count: number): boolean {
  return (count === 1 && error.includes(problem)) || error.includes(`(${field.split('.')[0]})`)
}

/** What can be typed is written before it is JSON: a path may hold what has to be escaped there. */
export function formatFailureJson({ exitCode, ...failure }: Failure): string {
  const hint = failure.hint === undefined ? {} : { hint: rewriteCommands(failure.hint) }
  return formatJsonLine({ success: false, ...failure, error: rewriteCommands(failure.error), ...hint, exit_code: exitCode })
}
