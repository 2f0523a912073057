/** Formats failures for people and as JSON. */
import type { ErrorDetail } from '../../../contract/errors.ts'
import { paint } from '../color.ts'
import { rewriteCommands } from '../invocation.ts'
import { formatJsonLine } from '../render.ts'
import { sanitizeText } from '../text.ts'
import { type Failure, SYSTEM_ERRORS } from './describe-failure.ts'
import { EXIT } from './exit-codes.ts'

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
