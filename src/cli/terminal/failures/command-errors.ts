/** Errors that commands throw. */
import type { ErrorDetail } from '../../../contract/errors.ts'
import { EXIT } from './exit-codes.ts'

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
