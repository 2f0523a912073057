/** The commands of the chat: their names, what they take, what they are for. */
import { suggestWord } from '../../contract/suggest.ts'

const GROUPS = ['Conversation', 'Who answers', 'This chat', 'Replies'] as const

export interface SlashCommand {
  readonly name: string
  /** What may follow it; empty where nothing does. */
  readonly takes: string
  /** Short: two of them stand beside each other in 80 columns. */
  readonly summary: string
  readonly group: (typeof GROUPS)[number]
}

export const COMMANDS = [
  { name: 'help', takes: '', summary: 'keys and commands', group: 'This chat' },
  { name: 'new', takes: '', summary: 'another conversation', group: 'Conversation' },
  { name: 'agents', takes: '', summary: 'choose who answers', group: 'Who answers' },
  { name: 'agent', takes: 'name', summary: 'the agent, or another', group: 'Who answers' },
  { name: 'model', takes: 'name', summary: 'the model, or another', group: 'Who answers' },
  { name: 'tools', takes: '', summary: 'what the agent uses', group: 'Who answers' },
  { name: 'sources', takes: '', summary: 'what the reply cites', group: 'Replies' },
  { name: 'search', takes: 'words', summary: 'look into documents', group: 'Replies' },
  { name: 'history', takes: '', summary: 'the whole conversation', group: 'Conversation' },
  { name: 'resume', takes: '', summary: 'an earlier conversation', group: 'Conversation' },
  { name: 'title', takes: 'words', summary: 'name the conversation', group: 'Conversation' },
  { name: 'export', takes: 'file', summary: 'write it to a file', group: 'Conversation' },
  { name: 'copy', takes: '', summary: 'copy the last reply', group: 'Replies' },
  { name: 'usage', takes: '', summary: 'tokens and cost', group: 'This chat' },
  { name: 'clear', takes: '', summary: 'an empty screen', group: 'This chat' },
  { name: 'quit', takes: '', summary: 'leave', group: 'This chat' },
] as const satisfies readonly SlashCommand[]

export type CommandName = (typeof COMMANDS)[number]['name']

export interface CommandCall {
  name: CommandName
  argument: string
}

/** What people type to leave everywhere else; alone on a line it is no question. */
const QUIT_WORDS = /^(?:quit|exit|:q)$/i
/** Other words for a command, which need no place in the list. */
const ALIASES: Readonly<Record<string, CommandName>> = { exit: 'quit', q: 'quit' }

/** The command in a line; a sentence when it looks like one and is none; undefined for what is to be sent. */
export function parseCommand(text: string): CommandCall | { problem: string } | undefined {
  if (QUIT_WORDS.test(text.trim())) return { name: 'quit', argument: '' }
  const [, word, argument = ''] = /^\/([a-z][\w-]*)(?:\s+([\s\S]*))?$/i.exec(text.trimEnd()) ?? []
  if (word === undefined) return undefined
  const typed = word.toLowerCase()
  const name = Object.hasOwn(ALIASES, typed) ? ALIASES[typed] : typed
  const known = COMMANDS.find((command) => command.name === name)
  if (known) return { name: known.name, argument: argument.trim() }
  const near = suggestWord(
    typed,
    COMMANDS.map((command) => command.name),
  )
  return { problem: `There is no command /${typed}.${near === undefined ? '' : ` Did you mean /${near}?`} /help lists them.` }
}

const KEY_HELP = [
  '**Enter** sends',
  '**Shift+Enter**, **Alt+Enter** or **Ctrl+J** a new line',
  "**@path** adds a file's text, **Tab** completes it",
  '**↑\u00a0↓** what you sent before',
  '**Esc** stops the reply',
  '**Ctrl+O** sources',
  '**Ctrl+T** results of tools',
  '**Ctrl+R** tries again after a failure',
  '**Ctrl+L** draws the screen again',
  '**quit** or **Ctrl+C** twice leaves',
]

/** Two commands fit beside each other from here on. */
const TWO_COLUMN_WIDTH = 80

/** What /help shows, as Markdown, within 24 rows where there are 80 columns. Line by line there are no keys, and a list is read out better than a table. */
export function formatHelp({ plain, columns }: { plain: boolean; columns: number }): string {
  if (plain)
    return [...COMMANDS.map((command) => `- ${formatUsage(command)}: ${command.summary}`), '- quit or exit alone: leave'].join('\n')
  const table = columns >= TWO_COLUMN_WIDTH ? joinGroups(GROUPS.map((group) => listGroupRows(group))) : listGroupRows(...GROUPS)
  const [head = [], ...rows] = table
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  return `${lines.join('\n')}\n\n${KEY_HELP.join(' · ')}`
}

type Row = readonly string[]

const formatUsage = ({ name, takes }: SlashCommand) => `/${name}${takes && ` ${takes}`}`

/** Groups one below the other, each with its name above it. */
function listGroupRows(...groups: SlashCommand['group'][]): Row[] {
  return groups.flatMap((group) => [
    [`**${group}**`, ''],
    ...COMMANDS.filter((command) => command.group === group).map((command) => [`\`${formatUsage(command)}\``, command.summary]),
  ])
}

/** Every other group stands to the right of the one before it. */
function joinGroups(groups: readonly (readonly Row[])[]): Row[] {
  return groups.flatMap((left, at) => {
    if (at % 2 === 1) return []
    const right = groups[at + 1] ?? []
    return Array.from({ length: Math.max(left.length, right.length) }, (_, row) => [
      ...(left[row] ?? ['', '']),
      ...(right[row] ?? ['', '']),
    ])
  })
}
