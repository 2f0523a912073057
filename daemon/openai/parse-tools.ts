/** Converts the tools of a client and calls of them. */
import { createValidationError } from '../../src/contract/errors.ts'
import type { ReplyOptions } from '../conversations/agent-loop/turn-context.ts'
import type { ToolChoice } from '../models/chat-model.ts'

interface ClientFunction {
  name: string
  description?: string | null | undefined
  parameters?: Record<string, unknown> | null | undefined
}

export function createToolOptions(
  functions: readonly ClientFunction[],
  toolChoice: ToolChoice,
): Pick<ReplyOptions, 'tools' | 'toolChoice'> {
  const tools = functions.map(({ name, description, parameters }) => ({
    name,
    description: description ?? '',
    parameters: parameters ?? { type: 'object', properties: {} },
  }))
  if (typeof toolChoice === 'object' && !tools.some(({ name }) => name === toolChoice.name))
    throw createValidationError('tool_choice', `there is no tool "${toolChoice.name}" in tools`)
  if (toolChoice === 'required' && tools.length === 0) throw createValidationError('tool_choice', 'requires tools')
  return { tools, toolChoice }
}

/** Models write the arguments of their calls as JSON. */
export function parseArguments(json: string, field: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json.trim() === '' ? '{}' : json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // reported below, as for values that are not objects
  }
  throw createValidationError(field, 'must be a JSON object')
}
