/** Asks for confirmation before a destructive action. */
import { boolean } from '@oclif/core/flags'
import { ReportedError, UsageError } from './failures/command-errors.ts'
import { askYesNo, canPrompt } from './prompts.ts'

export const yesFlag = boolean({ char: 'y', description: 'Skip the confirmation.' })

export async function confirm(question: string, yes: boolean, declined = 'Nothing was deleted.'): Promise<void> {
  if (yes) return
  if (!canPrompt()) throw new UsageError('Confirmation is required, but there is no terminal to ask at.', 'To confirm, add --yes.')
  if (await askYesNo(question)) return
  process.stderr.write(`${declined}\n`)
  throw new ReportedError()
}
