/** The question before something is gone. */
import { QuietFailure, UsageError } from './failure.ts'

export async function confirm(question: string, yes: boolean): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new UsageError('This needs a yes, and there is no terminal to ask at.', 'Add --yes if you are sure.')
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.on('SIGINT', () => process.emit('SIGINT'))
  try {
    const answer = await lines.question(`${question} [y/N] `)
    if (/^y(es)?$/i.test(answer.trim())) return
    process.stderr.write('Nothing was deleted.\n')
    throw new QuietFailure()
  } finally {
    lines.close()
  }
}
