/** The tools of an agent under unique names that models accept. */
import type { Tool } from '../core/tool.ts'
import type { ToolDefinition } from '../models/chat-model.ts'

const MAX_NAME_LENGTH = 64
const MAX_DESCRIPTION_LENGTH = 1_000

export class Toolset {
  readonly #tools: ReadonlyMap<string, Tool>

  constructor(tools: readonly Tool[]) {
    const toolsByName = new Map<string, Tool>()
    for (const tool of tools) toolsByName.set(createUniqueName(tool.name, toolsByName), tool)
    this.#tools = toolsByName
  }

  /** The same tools and another one. */
  with(tool: Tool): Toolset {
    return new Toolset([...this.#tools.values(), tool])
  }

  get names(): string[] {
    return [...this.#tools.keys()]
  }

  get definitions(): ToolDefinition[] {
    return [...this.#tools].map(([name, tool]) => ({
      name,
      description: (tool.description.trim() || tool.name).slice(0, MAX_DESCRIPTION_LENGTH),
      parameters: tool.parameters,
    }))
  }

  /** Tools that return passages. */
  get retrievalTools(): Tool[] {
    return [...this.#tools.values()].filter(({ retrieve }) => retrieve !== undefined)
  }

  /** Whether a source that the agent searches has tables. */
  get canQueryTables(): boolean {
    return [...this.#tools.values()].some(({ id }) => id.endsWith('/query_table'))
  }

  /** Names of tools that return values instead of passages. */
  get valueToolNames(): string[] {
    return [...this.#tools].flatMap(([name, { retrieve }]) => (retrieve === undefined ? [name] : []))
  }

  find(name: string): Tool | undefined {
    return this.#tools.get(name)
  }
}

/** Keeps letters, digits, _ and - of the tool's name and adds a number if the name is taken. */
export function createUniqueName(name: string, taken: ReadonlyMap<string, unknown>): string {
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
