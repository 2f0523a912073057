/** What a failed command reports: message, hint and exit code. */
import { CLIError } from '@oclif/core/errors'
import { ServiceError, UnreachableError } from '../../../client/errors.ts'
import { CadreError, type ErrorDetail } from '../../../contract/errors.ts'
import { UsageError } from './command-errors.ts'
import { EXIT, EXIT_BY_CODE } from './exit-codes.ts'

export interface Failure {
  exitCode: number
  code: string
  error: string
  hint?: string | undefined
  details?: ErrorDetail[] | undefined
  request_id?: string | undefined
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
