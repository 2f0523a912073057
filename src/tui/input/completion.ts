/** Completes the word at the cursor: a slash command, its argument, or a path after @. */
import { COMMANDS } from './slash-commands.ts'

export interface CompletionOption {
  /** Text inserted when it is chosen. */
  readonly value: string
  readonly label: string
  readonly note: string
  /** Whether more can be completed after it: entries of a directory, or an argument. */
  readonly hasMore: boolean
}

export interface Completion {
  readonly kind: 'command' | 'name' | 'file'
  /** Range of the text that is replaced. */
  readonly from: number
  readonly to: number
  readonly options: readonly CompletionOption[]
}

interface CompletionSources {
  /** Names in a directory, directories with a trailing slash. Empty if it cannot be read. */
  listEntries: (directory: string) => readonly string[]
  /** Possible arguments of a command. */
  listNames: (command: string) => readonly string[]
}

const MAX_OPTIONS = 50

export function findCompletion(text: string, cursor: number, knowledge: CompletionSources): Completion | undefined {
  const before = text.slice(0, cursor)
  const completion = completeCommand(before, cursor) ?? completeName(before, cursor, knowledge) ?? completePath(before, cursor, knowledge)
  return completion && completion.options.length > 0 ? completion : undefined
}

function completeCommand(before: string, cursor: number): Completion | undefined {
  const [, word] = /^\/([a-z]*)$/i.exec(before) ?? []
  if (word === undefined) return undefined
  const typed = word.toLowerCase()
  // An exact match comes first: /agent before /agents.
  const matches = COMMANDS.filter(({ name }) => name.startsWith(typed)).sort((a, b) => Number(b.name === typed) - Number(a.name === typed))
  const options = matches.map(({ name, argument, summary }) => ({
    value: `/${name}${argument === '' ? '' : ' '}`,
    label: `/${name}${argument && ` ${argument}`}`,
    note: summary,
    hasMore: argument !== '',
  }))
  return { kind: 'command', from: 0, to: cursor, options }
}

function completeName(before: string, cursor: number, { listNames }: CompletionSources): Completion | undefined {
  const [, command, word] = /^\/([a-z]+) +([^\n]*)$/i.exec(before) ?? []
  if (command === undefined || word === undefined) return undefined
  const options = listNames(command.toLowerCase())
    .filter((name) => name.toLowerCase().startsWith(word.toLowerCase()) && name !== word)
    .slice(0, MAX_OPTIONS)
    .map((name) => ({ value: name, label: name, note: '', hasMore: false }))
  return { kind: 'name', from: cursor - word.length, to: cursor, options }
}

function completePath(before: string, cursor: number, { listEntries }: CompletionSources): Completion | undefined {
  const [match, path] = /(?<=^|\s)@((?:"[^"\n]*)|[^\s"]*)$/.exec(before) ?? []
  if (match === undefined || path === undefined) return undefined
  const bare = path.replace(/^"/, '')
  const slash = bare.lastIndexOf('/')
  const [directory, start] = [bare.slice(0, slash + 1), bare.slice(slash + 1)]
  const options = listEntries(directory === '' ? '.' : directory)
    // Hidden files are listed only after a dot.
    .filter((name) => name.toLowerCase().startsWith(start.toLowerCase()) && (start.startsWith('.') || !name.startsWith('.')))
    .sort((a, b) => Number(b.endsWith('/')) - Number(a.endsWith('/')) || a.localeCompare(b))
    .slice(0, MAX_OPTIONS)
    .map((name) => createPathOption(`${directory}${name}`, name))
  return { kind: 'file', from: cursor - match.length, to: cursor, options }
}

function createPathOption(path: string, name: string): CompletionOption {
  const hasMore = name.endsWith('/')
  const value = /\s/.test(path) ? `@"${path}${hasMore ? '' : '" '}` : `@${path}${hasMore ? '' : ' '}`
  return { value, label: name, note: '', hasMore }
}

/** Returns the text with the option inserted and the new cursor position. */
export function applyCompletion(text: string, { from, to }: Completion, { value }: CompletionOption): { text: string; cursor: number } {
  const rest = text.slice(to)
  // Do not double the space before the following word.
  const inserted = value.endsWith(' ') && /^\s/.test(rest) ? value.trimEnd() : value
  return { text: text.slice(0, from) + inserted + rest, cursor: from + inserted.length }
}
