/** Arguments and flags shared by `rag query` and `retrieval search`. */
import { string } from '@oclif/core/args'
import { boolean, integer, string as text } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { InputReader } from '../input/input-reader.ts'
import { parsePair } from '../input/parse-pair.ts'
import { repeatable } from '../input/repeatable-flags.ts'
import { parseScalar } from '../input/schema-flags.ts'
import { createMissingQuestionError, hasStdin } from './read-question.ts'

/** Optional for oclif: a missing query is reported with an example that names the tool. */
export const createQueryArgument = (label: string) =>
  string({ multiple: true, ignoreStdin: true, description: `${label}, or - to read it from stdin.` })

export const queryFlags = {
  'top-k': integer({ char: 'k', min: 1, max: 100, description: "Maximum number of passages (default: the tool's setting)." }),
  filter: text({
    char: 'f',
    ...repeatable,
    description: 'Search only passages whose source, page, type or metadata matches. Repeatable; repeat a key to match any value.',
    helpValue: '<key=value>',
  }),
  rerank: boolean({ allowNo: true, description: "Whether to rerank the passages (default: the tool's setting)." }),
  full: boolean({ description: 'Show whole passages instead of excerpts.' }),
}

export type QueryFlags = InferredFlags<typeof queryFlags>

export interface QueryBody {
  query: string
  top_k?: number
  filters?: Record<string, unknown>
  rerank?: boolean
}

/** Reads the query from the arguments or stdin. `command` is the command line before it, for the example in the error. */
export async function readQuery(words: readonly string[], flags: QueryFlags, command: string): Promise<QueryBody> {
  const readsStdin = words.length === 1 ? words[0] === '-' : words.length === 0 && hasStdin()
  const query = (readsStdin ? (await new InputReader().readStdin('The question')).toString('utf8') : words.join(' ')).trim()
  if (query === '') throw createMissingQuestionError(command, readsStdin)
  const filters = parseFilters(flags.filter ?? [])
  return {
    query,
    top_k: flags['top-k'],
    ...(Object.keys(filters).length > 0 ? { filters } : {}),
    rerank: flags.rerank,
  }
}

export function parseFilters(texts: readonly string[]): Record<string, unknown> {
  const filters: Record<string, unknown> = {}
  for (const text of texts) {
    const [key, value] = parsePair(text, '--filter', 'Use key=value, for example source=leave.md.')
    filters[key] = key in filters ? [filters[key], parseScalar(value)].flat() : parseScalar(value)
  }
  return filters
}
