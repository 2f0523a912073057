/** How Cadre was called, so that what people are told to type is what they can type: `cadre` where it is installed, else node and a path. */
import { basename, isAbsolute, relative, sep } from 'node:path'
import { quoteShellWord } from './shell-quote.ts'

/** The first words after cadre; of other mentions nothing is changed. */
export const TOP_LEVEL_COMMANDS =
  'agents analytics api apply ask autocomplete chat config conversations daemon doctor evaluations export help knowledge models plan prompts quickstart rag retrieval status tokens tools usage webhooks'.split(
    ' ',
  )

const COMMAND_PATTERN = new RegExp(
  `(?<=^|[\\s("'\`]|\\u001b\\[\\d+m)(?<!npx )cadre(?= (?:${TOP_LEVEL_COMMANDS.join('|')}|--help)\\b)`,
  'gm',
)

/** What stands for `cadre` in the shell that called this. Where that stands is asked only if it matters: its folder may be gone. */
export function getInvocation(script: string = process.argv[1] ?? '', cwd?: string): string {
  const folders = script.split(sep)
  // Installed for one project only, or fetched for one call.
  if (folders.includes('.bin')) return 'npx cadre'
  // On Windows what is installed is called through a script that names the file.
  if (!['run.js', 'dev.js'].includes(basename(script)) || folders.includes('node_modules')) return 'cadre'
  const near = relative(cwd ?? process.cwd(), script)
  return `node ${quoteShellWord(near.startsWith('..') || isAbsolute(near) ? script : near.split(sep).join('/'))}`
}

/** A text for people, with commands as they can be typed here; said twice, it changes nothing more. */
export function rewriteCommands(text: string, typed: string = getInvocation()): string {
  return typed === 'cadre' ? text : text.replaceAll(COMMAND_PATTERN, () => typed)
}
