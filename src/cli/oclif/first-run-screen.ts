/** What `cadre` alone says where nothing was set up yet. */
import { existsSync } from 'node:fs'
import { chosenAddress } from '../../client/address.ts'
import type { Paths } from '../../config.ts'
import { paint } from '../terminal/color.ts'
import { wrapSentences } from '../terminal/wrap-sentences.ts'

/** Lines longer than this are hard to read. */
const MAX_COLUMNS = 80

/** Nobody used Cadre here yet, nor pointed it at a service elsewhere. Looks at the home only: nothing is started for it. */
export function isFirstRun(paths: Paths): boolean {
  return !existsSync(paths.database) && chosenAddress(paths) === undefined
}

export function formatWelcome(description: string, columns: number): string {
  const command = (text: string) => `  ${paint('bold', text, process.stdout)}`
  const sentences = [
    `cadre – ${description}`,
    "Nothing is set up yet. This finds models, reads a folder of yours (or Cadre's documentation) and answers a question from it:",
    command('cadre quickstart'),
    'Everything else:',
    command('cadre --help'),
  ]
  return `${wrapSentences(sentences.join('\n\n'), Math.min(columns, MAX_COLUMNS))}\n`
}
