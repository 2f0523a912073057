/** Formats how an answer was computed from tables. */
import type { Message } from '../../contract/schemas/messages.ts'
import { sanitizeLine } from '../terminal/text.ts'

interface ComputedAnswer {
  interpretation: string
  sql: string
}

/** Returns the interpretation and the SQL of each reading of the question. */
export const formatComputations = (computations: readonly ComputedAnswer[]): string[] =>
  computations.flatMap(({ interpretation, sql }) => [sanitizeLine(interpretation), `  ${sanitizeLine(sql)}`])

/** Finds what a reply computed: the embedded model describes each query, and chat models only send it. */
export function listComputations({ tool_calls = [] }: Pick<Message, 'tool_calls'>): ComputedAnswer[] {
  return tool_calls.flatMap(({ name, arguments: args, result }) => {
    if (!name.startsWith('query_table') || typeof args.sql !== 'string') return []
    const { interpretation } = (result ?? {}) as { interpretation?: unknown }
    return [{ sql: args.sql, interpretation: typeof interpretation === 'string' ? interpretation : 'Queried tables.' }]
  })
}
