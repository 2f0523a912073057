/** The commands of the chat: their names, what they take, what they are for. */
import { suggest } from '../contract/suggest.ts'

export interface ChatCommand {
  readonly name: string
  /** What may follow it; empty where nothing does. */
  readonly takes: string
  readonly summary: string
}

export const COMMANDS = [
  { name: 'help', takes: '', summary: 'keys and commands' },
  { name: 'new', takes: '', summary: 'begin another conversation' },
  { name: 'agents', takes: '', summary: 'choose who answers' },
  { name: 'agent', takes: 'name', summary: 'who answers, or another agent' },
  { name: 'model', takes: 'name', summary: 'the model that writes, or another one' },
  { name: 'tools', takes: '', summary: 'what the agent may use' },
  { name: 'sources', takes: '', summary: 'the passages the last reply stands on' },
  { name: 'search', takes: 'words', summary: "look into the agent's documents" },
  { name: 'history', takes: '', summary: 'the whole conversation again' },
  { name: 'resume', takes: '', summary: 'go on with an earlier conversation' },
  { name: 'title', takes: 'words', summary: 'name this conversation' },
  { name: 'export', takes: 'file', summary: 'write this conversation to a file' },
  { name: 'copy', takes: '', summary: 'the last reply to the clipboard' },
  { name: 'usage', takes: '', summary: 'tokens and cost' },
  { name: 'clear', takes: '', summary: 'an empty screen; the conversation goes on' },
  { name: 'quit', takes: '', summary: 'leave' },
] as const satisfies readonly ChatCommand[]

export type CommandName = (typeof COMMANDS)[number]['name']

export interface Called {
  name: CommandName
  argument: string
}

/** The command in a line; a sentence when it looks like one and is none; undefined for what is to be sent. */
export function calledIn(text: string): Called | { problem: string } | undefined {
  const [, word, argument = ''] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(text.trimEnd()) ?? []
  if (word === undefined) return undefined
  const name = word.toLowerCase()
  const known = COMMANDS.find((command) => command.name === name)
  if (known) return { name: known.name, argument: argument.trim() }
  const near = suggest(
    name,
    COMMANDS.map((command) => command.name),
  )
  return { problem: `There is no command /${name}.${near === undefined ? ' /help shows those there are.' : ` Did you mean /${near}?`}` }
}

const KEYS: readonly [string, string][] = [
  ['Enter', 'send'],
  ['Shift+Enter, Alt+Enter, Ctrl+J', 'a new line'],
  ['@path', "add a file's text; Tab completes"],
  ['↑ ↓', 'what you sent before'],
  ['Esc', 'stop the reply'],
  ['Ctrl+O', 'sources'],
  ['Ctrl+T', 'results of tools at length'],
  ['Ctrl+R', 'try again after a failure'],
  ['Ctrl+L', 'draw the screen again'],
  ['Ctrl+C twice', 'leave'],
]

/** What /help shows, as Markdown. Line by line there are no keys, and a list is read out better than a table. */
export function helpText({ plain }: { plain: boolean }): string {
  if (plain) return COMMANDS.map(({ name, takes, summary }) => `- /${name}${takes && ` ${takes}`}: ${summary}`).join('\n')
  const table = (title: string, rows: readonly (readonly [string, string])[]) =>
    [`| ${title} | |`, '|---|---|', ...rows.map(([one, what]) => `| ${one} | ${what} |`)].join('\n')
  const commands = COMMANDS.map(({ name, takes, summary }) => [`\`/${name}${takes && ` ${takes}`}\``, summary] as const)
  return [table('Commands', commands), table('Keys', KEYS)].join('\n\n')
}
