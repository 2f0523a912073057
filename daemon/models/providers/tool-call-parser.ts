/** Parses the tool calls of a reply: ensures unique ids and arguments that are objects. */
import { exceedsDepth } from '../../validation/json-depth.ts'
import type { ChatPart, ToolCall } from '../chat-model.ts'

/** SQLite rejects JSON with more than 1,000 levels, and recursive code overflows the stack. */
const MAX_DEPTH = 100

export interface RawToolCall {
  id: string
  name: string
  /** Arguments as the model wrote them, usually JSON. */
  input: string
  seal?: ToolCall['seal'] | undefined
}

export class ToolCallParser {
  readonly #ids = new Set<string>()

  parse({ id: rawId, name, input, seal }: RawToolCall): ChatPart {
    // Some servers send no ids, or the same id twice.
    const id = rawId === '' || this.#ids.has(rawId) ? `${rawId || 'call'}_${this.#ids.size}` : rawId
    this.#ids.add(id)
    const call: ToolCall = { id, name, arguments: {}, ...(seal ? { seal } : {}) }
    try {
      const value: unknown = JSON.parse(input.trim() === '' ? '{}' : input)
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return { type: 'tool_call', call, problem: 'The arguments are not a JSON object.' }
      if (exceedsDepth(value, MAX_DEPTH))
        return { type: 'tool_call', call, problem: `The arguments are nested deeper than ${MAX_DEPTH} levels.` }
      return { type: 'tool_call', call: { ...call, arguments: value as Record<string, unknown> } }
    } catch (error) {
      return { type: 'tool_call', call, problem: `The arguments are not valid JSON: ${(error as Error).message}` }
    }
  }
}
