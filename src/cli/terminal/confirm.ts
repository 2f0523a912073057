/** The question before something is gone. */

import { ReportedError, UsageError } from './errors.ts'
import { askYesNo, canPrompt } from './prompts.ts'

export async function confirm(question: string, yes: boolean, declined = 'Nothing was deleted.'): Promise<void> {
  if (yes) return
  if (!canPrompt()) throw new UsageError('This needs a yes, and there is no terminal to ask at.', 'Add --yes if you are sure.')
  if (await askYesNo(question)) return
  process.stderr.write(`${declined}\n`)
  throw new ReportedError()
}
