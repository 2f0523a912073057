/** The output of `cadre` without arguments before the first use. */
import { existsSync } from 'node:fs'
import { resolveAddress } from '../../client/address.ts'
import type { Paths } from '../../config.ts'
import { paint } from '../terminal/color.ts'
import { wrapSentences } from '../terminal/wrap-sentences.ts'

/** Longer lines are hard to read. */
const MAX_COLUMNS = 80

/** Whether there is no local database and no remote service is configured. Does not start the daemon. */
export function isFirstRun(paths: Paths): boolean {
  return !existsSync(paths.database) && resolveAddress(paths).url === undefined
}

export function formatWelcome(description: string, columns: number): string {
  const command = (text: string) => `  ${paint('bold', text, process.stdout)}`
  const sentences = [
    `cadre – ${description}`,
    "Get started: choose a model and a folder of documents (or Cadre's documentation), and ask a first question:",
    command('cadre quickstart'),
    'See all commands:',
    command('cadre --help'),
  ]
  return `${wrapSentences(sentences.join('\n\n'), Math.min(columns, MAX_COLUMNS))}\n`
}
