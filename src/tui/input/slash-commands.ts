/** Definitions, parser and help of the slash commands. */
import { suggestWord } from '../../contract/suggest.ts'

const GROUPS = ['Conversation', 'Agent', 'Chat', 'Replies'] as const

interface SlashCommand {
  readonly name: string
  /** Name of its argument, or empty. */
  readonly argument: string
  /** Short: two columns must fit into 80 characters. */
  readonly summary: string
  readonly group: (typeof GROUPS)[number]
  /** Whether the plain chat does not have it. */
  readonly needsScreen?: boolean
}

export const COMMANDS = [
  { name: 'help', argument: '', summary: 'show this help', group: 'Chat' },
  { name: 'new', argument: '', summary: 'new conversation', group: 'Conversation' },
  { name: 'agents', argument: '', summary: 'select an agent', group: 'Agent' },
  { name: 'agent', argument: 'name', summary: 'show or change agent', group: 'Agent' },
  { name: 'model', argument: 'name', summary: 'change the model', group: 'Agent' },
  { name: 'tools', argument: '', summary: 'tools of the agent', group: 'Agent' },
  { name: 'sources', argument: '', summary: 'sources of the reply', group: 'Replies' },
  { name: 'documents', argument: 'query', summary: 'search documents', group: 'Agent' },
  { name: 'search', argument: 'query', summary: 'search messages', group: 'Chat' },
  { name: 'history', argument: '', summary: 'show all messages', group: 'Conversation' },
  { name: 'resume', argument: '', summary: 'open a conversation', group: 'Conversation' },
  { name: 'title', argument: 'name', summary: 'rename', group: 'Conversation' },
  { name: 'export', argument: 'file', summary: 'write to a file', group: 'Chat' },
  { name: 'compact', argument: 'focus', summary: 'summarize', group: 'Conversation' },
  { name: 'summary', argument: '', summary: 'show the summary', group: 'Conversation' },
  { name: 'memory', argument: 'query', summary: 'what it remembers', group: 'Agent' },
  { name: 'copy', argument: '', summary: 'copy the last reply', group: 'Replies', needsScreen: true },
  { name: 'retry', argument: '', summary: 'answer again', group: 'Replies' },
  { name: 'edit', argument: '', summary: 'change your message', group: 'Replies', needsScreen: true },
  { name: 'usage', argument: '', summary: 'tokens and cost', group: 'Chat' },
  { name: 'clear', argument: '', summary: 'clear the screen', group: 'Chat', needsScreen: true },
  { name: 'quit', argument: '', summary: 'quit', group: 'Chat' },
] as const satisfies readonly SlashCommand[]

export type CommandName = (typeof COMMANDS)[number]['name']

export const PLAIN_COMMANDS: readonly SlashCommand[] = COMMANDS.filter((command: SlashCommand) => !command.needsScreen)

export interface CommandCall {
  name: CommandName
  argument: string
}

/** Common words for quitting and for help; if they are the whole line, they are not sent as a message. */
const QUIT_WORDS = /^(?:quit|exit|:q)$/i
const HELP_WORDS = /^\/?\?$/
const ALIASES: Readonly<Record<string, CommandName>> = { exit: 'quit', q: 'quit' }

/** Returns undefined for text that is not a command, and a problem for an unknown command. */
export function parseCommand(text: string): CommandCall | { problem: string } | undefined {
  if (QUIT_WORDS.test(text.trim())) return { name: 'quit', argument: '' }
  if (HELP_WORDS.test(text.trim())) return { name: 'help', argument: '' }
  const [, word, argument = ''] = /^\/([a-z][\w-]*)(?:\s+([\s\S]*))?$/i.exec(text.trimEnd()) ?? []
  if (word === undefined) return undefined
  const typed = word.toLowerCase()
  const name = Object.hasOwn(ALIASES, typed) ? ALIASES[typed] : typed
  const command = COMMANDS.find(({ name: candidate }) => candidate === name)
  if (command) return { name: command.name, argument: argument.trim() }
  const suggestion = suggestWord(
    typed,
    COMMANDS.map((command) => command.name),
  )
  return { problem: `Unknown command /${typed}.${suggestion === undefined ? '' : ` Did you mean /${suggestion}?`} To list commands: /help` }
}

/** Whether the text quits the chat: /quit, or one of the words and aliases for it. */
export function isQuitCommand(text: string): boolean {
  const command = parseCommand(text)
  return command !== undefined && 'name' in command && command.name === 'quit'
}

const KEY_HELP = [
  '**Enter** sends, or queues during a reply',
  '**Shift+Enter**, **Alt+Enter** or **Ctrl+J** new line',
  '**@path** attaches a file, **Tab** completes',
  '**↑\u00a0↓** and **Ctrl+R** history',
  '**Esc** or **Ctrl+C** stops the reply, then clears the input',
  '**Ctrl+G** editor',
  '**Ctrl+O** sources',
  '**Ctrl+T** tool results and reasoning',
  '**Ctrl+L** or **/clear** clears the screen',
  '**Ctrl+Z** suspends',
  '**/quit** or twice **Ctrl+C** or **Ctrl+D** quits',
]

/** Minimum width for two columns of commands. */
const TWO_COLUMN_WIDTH = 80

/** Returns Markdown that fits 24 rows of 80 columns. Plain chat has no keys, and screen readers read lists better than tables. */
export function formatHelp({ isPlain, columns }: { isPlain: boolean; columns: number }): string {
  if (isPlain)
    return [...PLAIN_COMMANDS.map((command) => `- ${formatUsage(command)}: ${command.summary}`), '- quit or exit: quit'].join('\n')
  const table = columns >= TWO_COLUMN_WIDTH ? joinGroups(GROUPS.map((group) => listGroupRows(group))) : listGroupRows(...GROUPS)
  const [head = [], ...rows] = table
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  return `${lines.join('\n')}\n\n${KEY_HELP.join(' · ')}`
}

type Row = readonly string[]

const formatUsage = ({ name, argument }: SlashCommand) => `/${name}${argument && ` ${argument}`}`

/** Commands that are mentioned below the table instead. */
const IN_KEY_HELP: ReadonlySet<string> = new Set(['clear', 'quit'])

/** Returns the rows of the groups, each below its name. */
function listGroupRows(...groups: SlashCommand['group'][]): Row[] {
  return groups.flatMap((group) => [
    [`**${group}**`, ''],
    ...COMMANDS.filter((command) => command.group === group && !IN_KEY_HELP.has(command.name)).map((command) => [
      `\`${formatUsage(command)}\``,
      command.summary,
    ]),
  ])
}

/** Places every second group to the right of the previous one. */
function joinGroups(groups: readonly (readonly Row[])[]): Row[] {
  return groups.flatMap((left, index) => {
    if (index % 2 === 1) return []
    const right = groups[index + 1] ?? []
    return Array.from({ length: Math.max(left.length, right.length) }, (_, row) => [
      ...(left[row] ?? ['', '']),
      ...(right[row] ?? ['', '']),
    ])
  })
}
