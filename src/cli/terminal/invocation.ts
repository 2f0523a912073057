/** How Cadre was started (`cadre`, `npx cadre` or `node PATH`), for commands in messages. */
import { basename, isAbsolute, relative, sep } from 'node:path'
import { quoteShellWord } from './shell-quote.ts'

/** Only `cadre` before one of these words is a command. */
export const TOP_LEVEL_COMMANDS = (
  'agents analytics api apply ask autocomplete backup chat config conversations daemon doctor evaluations export help knowledge ' +
  'login logout mcp memory migrate models open plan profiles prompts quickstart rag restore retrieval status tokens tools uninstall ' +
  'usage webhooks'
).split(' ')

const COMMAND_PATTERN = new RegExp(
  `(?<=^|[\\s("'\`]|\\u001b\\[\\d+m)(?<!npx )cadre(?= (?:${TOP_LEVEL_COMMANDS.join('|')}|--help|--profile)\\b)`,
  'gm',
)

/** Reads the working directory only if needed, since it may have been deleted. */
export function getInvocation(script: string = process.argv[1] ?? '', cwd?: string): string {
  const folders = script.split(sep)
  // Installed in a project, or run with npx.
  if (folders.includes('.bin')) return 'npx cadre'
  // On Windows, installed commands run through a script that passes the path of the file.
  if (!['run.js', 'dev.js'].includes(basename(script)) || folders.includes('node_modules')) return 'cadre'
  const near = relative(cwd ?? process.cwd(), script)
  return `node ${quoteShellWord(near.startsWith('..') || isAbsolute(near) ? script : near.split(sep).join('/'))}`
}

/** Like `rewriteCommands`, but only for the command in replies of the embedded model: documents are quoted exactly. */
export function rewriteReply(text: string, typed: string = getInvocation()): string {
  return typed === 'cadre' ? text : text.replaceAll('cadre models discover --add', `${typed} models discover --add`)
}

/** Replaces `cadre` in commands by the invocation. Idempotent. */
export function rewriteCommands(text: string, typed: string = getInvocation()): string {
  return typed === 'cadre' ? text : text.replaceAll(COMMAND_PATTERN, () => typed)
}
