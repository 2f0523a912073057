/** Entry point of `cadre __complete`, which the completion scripts call. */
import { fileURLToPath } from 'node:url'
import { type BashLine, parseBashLine, quoteForBash } from './bash-line.ts'
import { fetchNames } from './fetch-names.ts'
import { readGrammar } from './grammar.ts'
import { planCompletion } from './plan-completion.ts'

const MAX_DESCRIPTION_LENGTH = 80

/** Prints `files` or `words`, then one candidate per line with its description after a tab. Prints nothing if something fails. */
export async function runCompletion([shell, ...given]: readonly string[]): Promise<void> {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const line = shell === 'bash' ? parseBashLine(given[1] ?? '', given[0] ?? '') : undefined
  const words = line ? line.words.slice(1) : given.slice(0, -1)
  const current = line ? line.current : (given.at(-1) ?? '')
  try {
    const { candidates, kinds, parent, before, files } = planCompletion(readGrammar(root), words, current)
    const typed = current.slice(before.length)
    const names = kinds.length > 0 ? await fetchNames(kinds, typed, { profile: parseProfile(words), parent }) : []
    const found = [...candidates, ...names].filter(({ value }) => shell !== 'bash' || value.startsWith(typed))
    const lines = found.map(({ value, description }) => {
      const text = line ? formatForBash(before + value, line) : shell === 'zsh' ? before.replace(/^--[^=]+=/, '') + value : before + value
      return description === '' ? text : `${text}\t${shorten(description)}`
    })
    process.stdout.write(`${[files ? 'files' : 'words', ...lines].join('\n')}\n`)
  } catch {
    // Nobody can read an error here: the shell shows what it had before.
  }
}

/** Returns the service whose names are completed, if the line names one. */
function parseProfile(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => word === '--profile' || word.startsWith('--profile='))
  return words[at]?.startsWith('--profile=') ? words[at].slice('--profile='.length) : at < 0 ? undefined : words[at + 1]
}

/** Bash replaces only what follows its last word break. */
const formatForBash = (text: string, { kept, quote }: BashLine): string => quoteForBash(text.slice(kept.length), quote)

function shorten(description: string): string {
  const line = description.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
  return line.length > MAX_DESCRIPTION_LENGTH ? `${line.slice(0, MAX_DESCRIPTION_LENGTH - 1)}…` : line
}
