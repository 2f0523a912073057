/** Prompt templates as prompts of the MCP server. */

import type { AgentsService } from '../agents/service.ts'
import { createUniqueName } from '../agents/toolset.ts'
import type { Caller } from '../core/caller.ts'
import type { PromptTemplatesService } from '../prompt-templates/service.ts'

const MAX_PROMPTS = 500
const MAX_AGENTS = 500
const MAX_COMPLETIONS = 100

export function createMcpPrompts(templates: PromptTemplatesService, agents: AgentsService) {
  async function list() {
    return [...(await load())].map(([name, template]) => ({
      name,
      title: template.name,
      description: template.description.trim() || `The prompt template "${template.name}".`,
      arguments: template.variables.map((variable) => ({ name: variable, required: true })),
    }))
  }

  /** Returns undefined if there is no such prompt. */
  async function render(caller: Caller, name: string, values: Record<string, string>) {
    const template = (await load()).get(name)
    if (!template) return undefined
    const { text } = await templates.render(caller, template.id, values)
    return { description: template.description, text }
  }

  /** Suggests the values that agents have for a variable of the template. */
  async function complete(name: string, variable: string, value: string): Promise<string[]> {
    const template = (await load()).get(name)
    if (!template) return []
    const users = await agents.records.find(agents.database, { prompt_template_id: template.id }, MAX_AGENTS)
    const values = users.flatMap(({ variables }) => {
      const known = variables[variable]
      return typeof known === 'string' || typeof known === 'number' ? [String(known)] : []
    })
    const isMatch = (known: string) => known.toLowerCase().startsWith(value.toLowerCase())
    return [...new Set(values)].filter(isMatch).sort().slice(0, MAX_COMPLETIONS)
  }

  /** Clients use the names as commands, so they have no spaces. The oldest template with a name gets it. */
  async function load() {
    const { database, records } = templates
    const promptsByName = new Map<string, Awaited<ReturnType<typeof records.find>>[number]>()
    for (const template of await records.find(database, {}, MAX_PROMPTS))
      promptsByName.set(createUniqueName(template.name, promptsByName), template)
    return promptsByName
  }

  return { list, render, complete }
}

export type McpPrompts = ReturnType<typeof createMcpPrompts>
