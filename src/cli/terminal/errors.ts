/** Messages, hints and exit codes of failed commands. */
import { CLIError } from '@oclif/core/errors'
import { ServiceError, UnreachableError } from '../../client/errors.ts'
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

/** The command was used incorrectly. */
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

/** The command has already reported its failure; only the exit code is left to set. */
export class ReportedError extends Error {
  readonly exitCode: number

  constructor(exitCode: number = EXIT.failed) {
    super('')
    this.name = 'ReportedError'
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
  FORBIDDEN: 'Ask an admin for a token with another role: cadre tokens create --role editor',
  INTERNAL: 'This is a bug. For details: cadre daemon logs',
  STORAGE_FULL: 'To see the disk usage: cadre status. To see the free space: cadre doctor',
}

/** Replace the hints of the service, which are written for API clients. */
const CLI_HINTS: Record<string, string> = {
  UNAUTHENTICATED:
    'Log in (cadre login URL), set CADRE_TOKEN, or store a token: cadre config set token -. To create a new admin token on the ' +
    'machine of the daemon: cadre tokens recover',
}

export function toFailure(error: unknown): Failure {
  if (error instanceof CadreError) {
    const request_id = error instanceof ServiceError ? error.requestId : undefined
    const ownHint = error instanceof ServiceError && CLI_HINTS[error.code] ? undefined : error.hint
    return {
      exitCode: EXIT_BY_CODE[error.code] ?? EXIT.failed,
      code: error.code,
      error: error.message,
      hint: ownHint ?? CLI_HINTS[error.code] ?? DEFAULT_HINTS[error.code],
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
      hint: 'To see the usage, add --help.',
    }
  return {
    exitCode: EXIT.failed,
    code: 'FAILED',
    ...(toSystemFailure(error) ?? { error: error instanceof Error ? error.message : String(error) }),
  }
}

/** System error codes as the end of a sentence. */
export const SYSTEM_ERRORS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'disk quota exceeded',
  ENOTDIR: 'a part of the path is a file',
  EISDIR: 'it is a folder',
  ENOENT: 'a part of the path does not exist',
  EIO: 'disk I/O error',
}

/** Returns undefined if the error is not about a file. */
function toSystemFailure(error: unknown): Pick<Failure, 'error' | 'hint'> | undefined {
  const { code = '', path, syscall = '' } = error as NodeJS.ErrnoException
  const why = SYSTEM_ERRORS[code]
  if (why === undefined || path === undefined) return undefined
  const reads = ['open', 'read', 'scandir', 'stat', 'lstat', 'opendir', 'access'].includes(syscall) && code !== 'EROFS' && code !== 'ENOSPC'
  return {
    error: `${path} cannot be ${reads ? 'opened' : 'written'}: ${why} (${code}).`,
    hint: 'To check the data directory: cadre doctor. To use another one, set CADRE_HOME.',
  }
}

/** Reports that stdout cannot be written. */
export function formatOutputFailure({ code = '', message }: NodeJS.ErrnoException): string {
  return formatFailure({
    exitCode: EXIT.failed,
    code: 'FAILED',
    error: `The output cannot be written: ${SYSTEM_ERRORS[code] ?? message}.`,
  })
}

export function formatFailure(failure: Failure): string {
  const { error, details = [], hint, request_id, exitCode } = failure
  const lines = [`${paint('red', 'Error:')} ${sanitizeText(error)}`]
  for (const { field, problem } of details.filter((detail) => !isRedundant(error, detail, details.length)))
    lines.push(`  ${sanitizeText(field)}: ${sanitizeText(problem)}`)
  if (hint) lines.push(paint('dim', sanitizeText(hint)))
  if (request_id && exitCode === EXIT.failed) lines.push(paint('dim', `Request ${sanitizeText(request_id)}`))
  return lines.join('\n')
}

/** Whether the message already contains the only problem, or the ID of the resource. */
function isRedundant(error: string, { field, problem }: ErrorDetail, count: number): boolean {
  return (count === 1 && error.includes(problem)) || error.includes(`(${field.split('.')[0]})`)
}

/** Rewrites commands before encoding: the path of the script may need JSON escapes. */
export function formatFailureJson({ exitCode, ...failure }: Failure): string {
  const hint = failure.hint === undefined ? {} : { hint: rewriteCommands(failure.hint) }
  return formatJsonLine({ success: false, ...failure, error: rewriteCommands(failure.error), ...hint, exit_code: exitCode })
}
