/** An agent's tools as a model is offered them: under names that models take, each of them once. */

import type { Tool } from '../core/tool.ts'
import type { OfferedTool } from '../models/chat-model.ts'

const MAX_NAME_LENGTH = 64
const MAX_DESCRIPTION_LENGTH = 1_000

export class Toolset {
  readonly #tools: ReadonlyMap<string, Tool>

  constructor(tools: readonly Tool[]) {
    const named = new Map<string, Tool>()
    for (const tool of tools) named.set(createUniqueName(tool.name, named), tool)
    this.#tools = named
  }

  get names(): string[] {
    return [...this.#tools.keys()]
  }

  get definitions(): OfferedTool[] {
    return [...this.#tools].map(([name, tool]) => ({
      name,
      description: getDescription(tool).slice(0, MAX_DESCRIPTION_LENGTH),
      parameters: tool.parameters,
    }))
  }

  /** Those that find passages. */
  get retrievalTools(): Tool[] {
    return [...this.#tools.values()].filter(({ retrieve }) => retrieve !== undefined)
  }

  /** Names of those that answer with values, which are worth reading again. */
  get valueToolNames(): string[] {
    return [...this.#tools].flatMap(([name, { retrieve }]) => (retrieve === undefined ? [name] : []))
  }

  find(name: string): Tool | undefined {
    return this.#tools.get(name)
  }
}

function getDescription({ name, description }: Tool): string {
  return description.trim() === '' ? name : description.trim()
}

/** As close to the tool's own name as models take it: letters, digits, _ and -, and not yet another's. */
function createUniqueName(name: string, taken: ReadonlyMap<string, unknown>): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^a-zA-Z0-9_-]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, MAX_NAME_LENGTH)
  const base = plain === '' ? 'tool' : plain
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? base : `${base.slice(0, MAX_NAME_LENGTH - String(count).length - 1)}_${count}`
    if (!taken.has(candidate)) return candidate
  }
}
