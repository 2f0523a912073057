/** Generates static completion scripts, so that completion starts no process. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** The words that can follow a command line prefix: subcommands or flags. */
interface CompletionNode {
  /** Words of the prefix, separated by spaces. */
  path: string
  next: { word: string; description: string }[]
}

/** The allowed values of a flag. */
interface FlagValues {
  path: string
  flag: string
  values: string[]
}

interface Grammar {
  nodes: CompletionNode[]
  flagValues: FlagValues[]
}

interface CommandLike {
  id: string
  hidden?: boolean | undefined
  description?: string | undefined
  summary?: string | undefined
  flags: Record<
    string,
    {
      description?: string | undefined
      options?: readonly string[] | undefined
      allowNo?: boolean | undefined
      hidden?: boolean | undefined
    }
  >
}

interface TopicLike {
  name: string
  description?: string | undefined
}

const getFirstLine = (text = '') => text.split('\n')[0] ?? ''

export function buildGrammar(commands: readonly CommandLike[], topics: readonly TopicLike[]): Grammar {
  const nodes = new Map<string, Map<string, string>>()
  const flagValues: FlagValues[] = []
  const add = (path: string, word: string, description: string) => {
    const next = nodes.get(path) ?? new Map<string, string>()
    if (!next.get(word)) next.set(word, description)
    nodes.set(path, next)
  }
  const topicDescriptions = new Map(topics.map(({ name, description }) => [name, getFirstLine(description)]))
  for (const { id, hidden, description, summary, flags } of commands) {
    if (hidden) continue
    const words = id.split(':')
    for (const [index, word] of words.entries()) {
      const topic = topicDescriptions.get(words.slice(0, index + 1).join(':')) ?? ''
      add(words.slice(0, index).join(' '), word, index === words.length - 1 ? getFirstLine(summary ?? description) : topic)
    }
    const path = words.join(' ')
    for (const [name, flag] of Object.entries(flags)) {
      if (flag.hidden) continue
      add(path, `--${name}`, getFirstLine(flag.description))
      if (flag.allowNo) add(path, `--no-${name}`, getFirstLine(flag.description))
      if (flag.options) flagValues.push({ path, flag: `--${name}`, values: [...flag.options] })
    }
    add(path, '--help', 'Show help.')
  }
  return {
    nodes: [...nodes].map(([path, next]) => ({ path, next: [...next].map(([word, description]) => ({ word, description })) })),
    flagValues,
  }
}

export function formatCompletionScript(shell: Shell, grammar: Grammar): string {
  return { bash: formatBash, zsh: formatZsh, fish: formatFish }[shell](grammar)
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Shell functions for bash and zsh that look up next words and flag values. */
function formatLookupFunctions({ nodes, flagValues }: Grammar, formatWord: (next: CompletionNode['next'][number]) => string): string {
  const formatCase = (pattern: string, words: readonly string[]) => `    ${quote(pattern)}) printf '%s\\n' ${words.map(quote).join(' ')} ;;`
  const next = nodes.map((node) => formatCase(node.path, node.next.map(formatWord)))
  const values = flagValues.map(({ path, flag, values: words }) => formatCase(`${path} ${flag}`, words))
  return `_cadre_next() {
  case "$1" in
${next.join('\n')}
  esac
}
_cadre_values() {
  case "$1" in
${values.join('\n')}
  esac
}`
}

function formatBash(grammar: Grammar): string {
  return `# cadre completion for bash: source <(cadre autocomplete bash)
${formatLookupFunctions(grammar, ({ word }) => word)}
_cadre() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at='' word longer words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    longer="\${at:+$at }$word"
    [[ -n "$(_cadre_next "$longer")" ]] && at="$longer"
  done
  words="$(_cadre_values "$at $before")"
  [[ -z "$words" ]] && words="$(_cadre_next "$at")"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _cadre cadre`
}

function formatZsh(grammar: Grammar): string {
  const formatWord = ({ word, description }: CompletionNode['next'][number]) => `${word.replaceAll(':', '\\:')}:${description}`
  return `#compdef cadre
# cadre completion for zsh: source <(cadre autocomplete zsh)
${formatLookupFunctions(grammar, formatWord)}
_cadre() {
  local at='' word longer
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    longer="\${at:+$at }$word"
    [[ -n "$(_cadre_next "$longer")" ]] && at="$longer"
  done
  found=("\${(@f)$(_cadre_values "$at $words[CURRENT-1]")}")
  if [[ -n "$found[1]" ]]; then
    compadd -a found
  else
    found=("\${(@f)$(_cadre_next "$at")}")
    _describe 'cadre' found || _files
  fi
}
if [[ "$funcstack[1]" == "_cadre" ]]; then _cadre "$@"; else compdef _cadre cadre; fi`
}

function formatFish({ nodes, flagValues }: Grammar): string {
  const lines = nodes.flatMap(({ path, next }) =>
    next.map(({ word, description }) => {
      const option = word.startsWith('--') ? `-l ${quote(word.slice(2))}` : `-a ${quote(word)}`
      const allowed = flagValues.find((entry) => entry.path === path && entry.flag === word)
      const values = allowed ? ` -x -a ${quote(allowed.values.join(' '))}` : ''
      return `complete -c cadre -n ${quote(`__cadre_at "${path}"`)} ${option}${values} -d ${quote(description)}`
    }),
  )
  return `# cadre completion for fish: cadre autocomplete fish | source
function __cadre_at
  set -l words (commandline -opc)[2..-1]
  set -l at ''
  for word in $words
    set -l longer (string trim "$at $word")
    contains -- "$longer" $__cadre_places; and set at $longer
  end
  test "$at" = "$argv[1]"
end
set -g __cadre_places ${nodes.flatMap(({ path }) => (path === '' ? [] : [quote(path)])).join(' ')}
complete -c cadre -e
complete -c cadre -n '__cadre_at ""' -f
${lines.join('\n')}`
}
