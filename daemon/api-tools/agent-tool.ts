/** An API tool as agents use it: what comes back is small enough for a model to read. */
import type { Tool, ToolUse } from '../core/tool.ts'
import type { ToolAnswer } from './answer.ts'
import type { StoredApiTool } from './store.ts'

const MOST_CHARACTERS = 20_000

export function agentTool(record: StoredApiTool, call: (input: Record<string, unknown>, signal: AbortSignal) => Promise<ToolAnswer>): Tool {
  const { id, name, description, method, url, parameters, requires_confirmation } = record
  return {
    id,
    name,
    description: description || `Calls ${method} ${url}`,
    parameters,
    requiresConfirmation: requires_confirmation,
    async run(input: Record<string, unknown>, { signal }: ToolUse) {
      const { status, body } = await call(input, signal)
      return { kind: 'value', value: { status, body: readable(body) } }
    },
  }
}

/** As it is, or the beginning of its text with a word about the rest. */
function readable(body: unknown): unknown {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  if (text.length <= MOST_CHARACTERS) return body
  // Half of a surrogate pair is refused by providers and by the database.
  const beginning = text.slice(0, MOST_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')
  return `${beginning}\n[Cut after ${MOST_CHARACTERS} of ${text.length} characters.]`
}
