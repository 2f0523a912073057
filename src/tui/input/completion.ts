/** What the word under the cursor may become: a command, a name after one, or a path after @. */
import { COMMANDS } from './slash-commands.ts'

export interface CompletionOption {
  /** What stands there when it is chosen. */
  readonly value: string
  readonly label: string
  readonly note: string
  /** More follows: a directory's entries, a command's argument. */
  readonly hasMore: boolean
}

export interface Completion {
  readonly kind: 'command' | 'name' | 'file'
  /** The part of the text it replaces. */
  readonly from: number
  readonly to: number
  readonly options: readonly CompletionOption[]
}

export interface CompletionSources {
  /** Names of what is in a directory, directories with a slash at their end; nothing where it cannot be read. */
  listEntries: (directory: string) => readonly string[]
  /** What may follow a command. */
  listNames: (command: string) => readonly string[]
}

const MAX_OPTIONS = 50

export function findCompletion(text: string, cursor: number, knowledge: CompletionSources): Completion | undefined {
  const before = text.slice(0, cursor)
  const found = completeCommand(before, cursor) ?? completeName(before, cursor, knowledge) ?? completePath(before, cursor, knowledge)
  return found && found.options.length > 0 ? found : undefined
}

function completeCommand(before: string, cursor: number): Completion | undefined {
  const [, word] = /^\/([a-z]*)$/i.exec(before) ?? []
  if (word === undefined) return undefined
  const typed = word.toLowerCase()
  // What stands there in full is meant: /agent, not /agents.
  const found = COMMANDS.filter(({ name }) => name.startsWith(typed)).sort(
    (one, other) => Number(other.name === typed) - Number(one.name === typed),
  )
  const options = found.map(({ name, takes, summary }) => ({
    value: `/${name}${takes === '' ? '' : ' '}`,
    label: `/${name}${takes && ` ${takes}`}`,
    note: summary,
    hasMore: takes !== '',
  }))
  return { kind: 'command', from: 0, to: cursor, options }
}

function completeName(before: string, cursor: number, { listNames: names }: CompletionSources): Completion | undefined {
  const [, command, word] = /^\/([a-z]+) +([^\n]*)$/i.exec(before) ?? []
  if (command === undefined || word === undefined) return undefined
  const options = names(command.toLowerCase())
    .filter((name) => name.toLowerCase().startsWith(word.toLowerCase()) && name !== word)
    .slice(0, MAX_OPTIONS)
    .map((name) => ({ value: name, label: name, note: '', hasMore: false }))
  return { kind: 'name', from: cursor - word.length, to: cursor, options }
}

function completePath(before: string, cursor: number, { listEntries: entries }: CompletionSources): Completion | undefined {
  const [whole, path] = /(?<=^|\s)@((?:"[^"\n]*)|[^\s"]*)$/.exec(before) ?? []
  if (whole === undefined || path === undefined) return undefined
  const bare = path.replace(/^"/, '')
  const slash = bare.lastIndexOf('/')
  const [directory, start] = [bare.slice(0, slash + 1), bare.slice(slash + 1)]
  const options = entries(directory === '' ? '.' : directory)
    // What is hidden is meant only by who begins with its dot.
    .filter((name) => name.toLowerCase().startsWith(start.toLowerCase()) && (start.startsWith('.') || !name.startsWith('.')))
    .sort((a, b) => Number(b.endsWith('/')) - Number(a.endsWith('/')) || a.localeCompare(b))
    .slice(0, MAX_OPTIONS)
    .map((name) => createPathOption(`${directory}${name}`, name))
  return { kind: 'file', from: cursor - whole.length, to: cursor, options }
}

function createPathOption(path: string, name: string): CompletionOption {
  const open = name.endsWith('/')
  const value = /\s/.test(path) ? `@"${path}${open ? '' : '" '}` : `@${path}${open ? '' : ' '}`
  return { value, label: name, note: '', hasMore: open }
}

/** The text with the option in it, and where the cursor stands then. */
export function applyCompletion(text: string, { from, to }: Completion, { value }: CompletionOption): { text: string; cursor: number } {
  const rest = text.slice(to)
  // One space between the word and what follows it is enough.
  const put = value.endsWith(' ') && /^\s/.test(rest) ? value.trimEnd() : value
  return { text: text.slice(0, from) + put + rest, cursor: from + put.length }
}
