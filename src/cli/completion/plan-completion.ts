/** Decides what can follow an unfinished command line. */
import { type CompletedCommand, type CompletedFlag, type Grammar, getFirstLine } from './grammar.ts'
import { type Kind, listArgumentKinds, listFlagKinds } from './name-kinds.ts'

export interface Candidate {
  value: string
  description: string
}

interface CompletionPlan {
  candidates: Candidate[]
  /** Resources whose names can follow. */
  kinds: readonly Kind[]
  /** The argument before, to which the names belong. */
  parent: string | undefined
  /** Start of the current word that is complete, such as `--tool=` or `handbook,`. */
  before: string
  /** Whether a file can follow. */
  files: boolean
}

export function planCompletion(grammar: Grammar, words: readonly string[], current: string): CompletionPlan {
  const { path, args, usedFlags, openFlag, isAfterFlags } = parseWords(grammar, words)
  const name = path.join(' ')
  const command = grammar.commands.get(name)
  if (openFlag !== undefined && command) return planFlagValue(command, name, openFlag, current, '')
  const [, given, value] = /^--([^=]+)=(.*)$/s.exec(current) ?? []
  if (!isAfterFlags && given !== undefined && command) return planFlagValue(command, name, given, value ?? '', `--${given}=`)
  if (!isAfterFlags && current.startsWith('-')) return createPlan({ candidates: listFlags(command, usedFlags) })
  const candidates = args.length === 0 ? toCandidates(grammar.words.get(name)) : []
  return command ? planArgument(command, name, args, candidates) : createPlan({ candidates })
}

const createPlan = (plan: Partial<CompletionPlan>): CompletionPlan => ({
  candidates: [],
  kinds: [],
  parent: undefined,
  before: '',
  files: false,
  ...plan,
})

const toCandidates = (words: ReadonlyMap<string, string> = new Map()): Candidate[] =>
  [...words].map(([value, description]) => ({ value, description }))

/** Parses the complete words of a command line, without `cadre`. `openFlag` is the flag whose value is the current word. */
function parseWords(grammar: Grammar, words: readonly string[]) {
  // `help` has the commands as arguments.
  const given = words[0] === 'help' && words.length > 1 ? words.slice(1) : words
  const path: string[] = []
  const usedFlags = new Set<string>()
  const args: string[] = []
  let openFlag: string | undefined
  let isAfterFlags = false
  for (const word of given) {
    const commandPath = path.join(' ')
    if (openFlag !== undefined) openFlag = undefined
    else if (word === '--') isAfterFlags = true
    else if (!isAfterFlags && /^-./.test(word)) {
      const found = findFlag(grammar.commands.get(commandPath), word)
      if (found) usedFlags.add(found.name)
      if (found?.flag.type === 'option' && !word.includes('=')) openFlag = found.name
    } else if (args.length === 0 && grammar.words.get(commandPath)?.has(word)) path.push(word)
    else args.push(word)
  }
  return { path, args, usedFlags, openFlag, isAfterFlags }
}

/** @param word `--name`, `--name=value` or `-n` */
function findFlag(command: CompletedCommand | undefined, word: string): { name: string; flag: CompletedFlag } | undefined {
  const [name = ''] = word.replace(/^--?/, '').split('=')
  const entry = Object.entries(command?.flags ?? {}).find(([long, { char }]) => (word.startsWith('--') ? long === name : char === name))
  return entry && { name: entry[0], flag: entry[1] }
}

function planFlagValue(command: CompletedCommand, path: string, name: string, value: string, before: string): CompletionPlan {
  const flag = command.flags[name]
  const candidates = (flag?.options ?? []).map((option) => ({ value: option, description: '' }))
  const kinds = candidates.length > 0 ? [] : listFlagKinds(path, name)
  // Flags that can be repeated also accept a list.
  const list = flag?.multiple && kinds.length > 0 ? value.slice(0, value.lastIndexOf(',') + 1) : ''
  return createPlan({ candidates, kinds, before: before + list, files: candidates.length === 0 && kinds.length === 0 })
}

function listFlags(command: CompletedCommand | undefined, used: ReadonlySet<string>): Candidate[] {
  const flags = Object.entries(command?.flags ?? {}).flatMap(([name, { description, hidden, multiple, allowNo }]) => {
    if (hidden || (used.has(name) && !multiple)) return []
    return [name, ...(allowNo ? [`no-${name}`] : [])].map((value) => ({ value: `--${value}`, description: getFirstLine(description) }))
  })
  return [...flags, { value: '--help', description: 'Show help.' }]
}

function planArgument(command: CompletedCommand, path: string, given: readonly string[], subcommands: Candidate[]): CompletionPlan {
  const position = given.length
  const args = Object.entries(command.args)
  const last = args.at(-1)
  const entry = args[position] ?? (last?.[1].multiple ? last : undefined)
  if (!entry) return createPlan({ candidates: subcommands })
  const [name, { options = [] }] = entry
  // Only the first word of a question can be an agent.
  const kinds = path === 'ask' && position > 0 ? [] : listArgumentKinds(path, name)
  const candidates = [...subcommands, ...options.map((value) => ({ value, description: '' }))]
  return createPlan({ candidates, kinds, parent: given.at(-1), files: candidates.length === 0 && kinds.length === 0 })
}
