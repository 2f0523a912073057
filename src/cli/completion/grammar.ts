/** The commands, arguments and flags of the CLI, read from the files that the build writes for oclif. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface CompletedArgument {
  description?: string
  options?: readonly string[]
  multiple?: boolean
  hidden?: boolean
}

export interface CompletedFlag extends CompletedArgument {
  char?: string
  type: 'option' | 'boolean'
  allowNo?: boolean
  helpGroup?: string
}

export interface CompletedCommand {
  id: string
  hidden?: boolean
  summary?: string
  description?: string
  /** In the order of their positions. */
  args: Record<string, CompletedArgument>
  flags: Record<string, CompletedFlag>
}

export interface Grammar {
  /** By path, such as `agents create`. The empty path has the global flags. */
  commands: ReadonlyMap<string, CompletedCommand>
  /** The words that can follow a path, with their descriptions. */
  words: ReadonlyMap<string, ReadonlyMap<string, string>>
}

export function readGrammar(root: string): Grammar {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const { commands } = read('oclif.manifest.json') as { commands: Record<string, CompletedCommand> }
  const { oclif } = read('package.json') as { oclif: { topics: Record<string, { description?: string }> } }
  return buildGrammar(Object.values(commands), oclif.topics)
}

function buildGrammar(commands: readonly CompletedCommand[], topics: Record<string, { description?: string }>): Grammar {
  const shown = commands.filter(({ hidden }) => !hidden)
  const words = new Map<string, Map<string, string>>()
  for (const { id, summary, description } of shown) {
    const path = id.split(':')
    for (const [index, word] of path.entries()) {
      const next = words.get(path.slice(0, index).join(' ')) ?? new Map<string, string>()
      const isCommand = index === path.length - 1
      const text = isCommand ? (summary ?? description) : topics[path.slice(0, index + 1).join(':')]?.description
      // A word can be a command and a topic; the description of the topic says more.
      if (!next.get(word) || !isCommand) next.set(word, getFirstLine(text))
      words.set(path.slice(0, index).join(' '), next)
    }
  }
  const root = { id: '', args: {}, flags: getGlobalFlags(shown) }
  return { commands: new Map([root, ...shown].map((command) => [command.id.replaceAll(':', ' '), command])), words }
}

/** Every command has them, and they can precede it. */
const getGlobalFlags = ([command]: readonly CompletedCommand[]): CompletedCommand['flags'] =>
  Object.fromEntries(Object.entries(command?.flags ?? {}).filter(([, { helpGroup }]) => helpGroup === 'GLOBAL'))

export const getFirstLine = (text = ''): string => text.split('\n')[0] ?? ''
