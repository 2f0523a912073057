/** The question before something is done that cannot be undone. */
import { QuietFailure, UsageError } from './failure.ts'

export async function confirm(question: string, yes: boolean): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new UsageError('This needs a yes, and there is no terminal to ask at.', 'Add --yes if you are sure.')
  if (await yesOrNo(question)) return
  process.stderr.write('Nothing was deleted.\n')
  throw new QuietFailure()
}

/** Asks at the terminal; anything but yes is no. */
export async function yesOrNo(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.on('SIGINT', () => process.emit('SIGINT'))
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}
