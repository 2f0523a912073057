/** The tool calls of one reply, made safe to hand on: an id of its own each, and arguments that are an object. */
import type { ChatPart, ToolCall } from '../chat-model.ts'

export interface RawToolCall {
  id: string
  name: string
  /** As the model wrote them: JSON, one hopes. */
  input: string
  seal?: ToolCall['seal'] | undefined
}

export class ToolCallParser {
  readonly #ids = new Set<string>()

  parse({ id: given, name, input, seal }: RawToolCall): ChatPart {
    // Some servers give no ids, or the same one twice.
    const id = given === '' || this.#ids.has(given) ? `${given || 'call'}_${this.#ids.size}` : given
    this.#ids.add(id)
    const call: ToolCall = { id, name, arguments: {}, ...(seal ? { seal } : {}) }
    try {
      const read: unknown = JSON.parse(input.trim() === '' ? '{}' : input)
      if (typeof read !== 'object' || read === null || Array.isArray(read))
        return { type: 'tool_call', call, problem: 'The arguments are no JSON object.' }
      return { type: 'tool_call', call: { ...call, arguments: read as Record<string, unknown> } }
    } catch (error) {
      return { type: 'tool_call', call, problem: `The arguments are no JSON: ${(error as Error).message}` }
    }
  }
}
