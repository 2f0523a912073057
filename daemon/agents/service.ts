/** Agents: a model, instructions and tools. */
import { isDeepStrictEqual } from 'node:util'
import { CadreError, createNotFoundError, createValidationError } from '../../src/contract/errors.ts'
import { agents } from '../../src/contract/families/agents.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { type Caller, requireAdmin } from '../core/caller.ts'
import type { Tool } from '../core/tool.ts'
import { type FamilyInput, Resource } from '../crud/resource.ts'
import type { ModelsService } from '../models/service.ts'
import type { PromptTemplatesService } from '../prompt-templates/service.ts'
import type { Database, DatabaseReader } from '../store/database.ts'
import { listNullable, type Reference } from '../store/links.ts'
import type { Page } from '../store/records.ts'
import { buildSystemPrompt } from './build-system-prompt.ts'
import { agentRecords, type StoredAgent } from './store.ts'
import { Toolset } from './toolset.ts'

/** A family whose resources agents can use as tools. */
interface ToolKind {
  exists(reader: DatabaseReader, id: string): Promise<boolean>
  findTool(reader: DatabaseReader, id: string): Promise<Tool | undefined>
}

/** An agent with its rendered prompt. */
export interface AgentSnapshot {
  agent: StoredAgent
  prompt: string
}

/** An agent that is ready to answer. */
export interface LoadedAgent {
  agent: StoredAgent
  systemPrompt: string
  toolset: Toolset
}

export class AgentsService extends Resource<StoredAgent, FamilyInput<typeof agents>> {
  readonly #models: ModelsService
  readonly #templates: PromptTemplatesService
  readonly #toolKinds: readonly ToolKind[]

  constructor(database: Database, models: ModelsService, templates: PromptTemplatesService, toolKinds: readonly ToolKind[]) {
    super(database, agents, agentRecords, {
      prepare: async (record, input, { transaction, caller, current }) => {
        for (const id of input.tools ?? []) await requireTool(transaction, toolKinds, id)
        checkAllowedTools(record, caller, current)
        const template = input.prompt_template_id
        if (template && !(await templates.exists(transaction, template)))
          throw createValidationError('prompt_template_id', `there is no prompt template "${template}"`)
        if (!hasSamePrompt(record, current)) await requireVariables(transaction, templates, record)
        return {
          ...record,
          model_id: input.model_id ? await models.resolve(transaction, input.model_id, 'model_id') : record.model_id,
          topics: record.topics.map(normalizeTopic),
          allowed_tools: record.allowed_tools.filter((id) => record.tools.includes(id)),
        }
      },
      getReferences: listReferences,
    })
    this.#models = models
    this.#templates = templates
    this.#toolKinds = toolKinds
  }

  /** Agents have no type and status; the filters exist because other resources have them. */
  override async list(caller: Caller, { type = 'agent', status = 'active', ...query }: ListQuery): Promise<Page<StoredAgent>> {
    if (type !== 'agent' || status !== 'active') return { items: [], total: 0 }
    return super.list(caller, await this.#models.resolveFilter(query))
  }

  async load(reader: DatabaseReader, id: string): Promise<LoadedAgent> {
    const snapshot = await this.findSnapshot(reader, id)
    if (!snapshot) throw createNotFoundError('agent', id)
    return this.loadSnapshot(reader, snapshot)
  }

  /** Loads an agent from a snapshot, with those of its tools that still exist. */
  async loadSnapshot(reader: DatabaseReader, { agent, prompt }: AgentSnapshot): Promise<LoadedAgent> {
    const tools = await Promise.all(agent.tools.map((tool) => this.#findTool(reader, tool)))
    const toolset = new Toolset(
      tools.flatMap((tool) => (tool === undefined ? [] : [tool, ...(tool.companions ?? [])])).map((tool) => applyPermission(agent, tool)),
    )
    return { agent, systemPrompt: buildSystemPrompt(prompt, agent, toolset), toolset }
  }

  async findSnapshot(reader: DatabaseReader, id: string): Promise<AgentSnapshot | undefined> {
    const agent = await this.records.get(reader, id)
    return agent && { agent, prompt: await this.#renderPrompt(reader, agent) }
  }

  async #findTool(reader: DatabaseReader, id: string): Promise<Tool | undefined> {
    for (const kind of this.#toolKinds) {
      const tool = await kind.findTool(reader, id)
      if (tool) return tool
    }
    return undefined
  }

  async #renderPrompt(reader: DatabaseReader, { name, system_prompt, prompt_template_id, variables }: StoredAgent): Promise<string> {
    if (prompt_template_id === null) return system_prompt
    const { text, missing } = await this.#templates.fill(reader, prompt_template_id, variables)
    if (missing.length === 0) return text
    throw new CadreError('CONFLICT', `The agent "${name}" has no value for ${missing.join(', ')}, which its prompt template needs.`, {
      hint: "Set the agent's variables.",
    })
  }
}

async function requireTool(reader: DatabaseReader, kinds: readonly ToolKind[], id: string): Promise<void> {
  for (const kind of kinds) if (await kind.exists(reader, id)) return
  throw createValidationError('tools', `there is no tool "${id}"`, 'Use the IDs of RAG, retrieval, API or MCP tools.')
}

/** Calls without confirmation can change something on behalf of every user of the agent, so only an admin can allow them. */
function checkAllowedTools({ tools, allowed_tools }: StoredAgent, caller: Caller, current: StoredAgent | undefined): void {
  const added = allowed_tools.filter((id) => !current?.allowed_tools.includes(id))
  const unknown = added.find((id) => !tools.includes(id))
  if (unknown !== undefined)
    throw createValidationError('allowed_tools', `"${unknown}" is not a tool of this agent`, 'Add it to tools too, or remove it.')
  if (added.length > 0) requireAdmin(caller, 'allow tool calls without confirmation')
}

/** Evaluation runs of earlier versions stored agents without allowed_tools. */
const applyPermission = ({ allowed_tools = [] }: Partial<StoredAgent>, tool: Tool): Tool =>
  tool.requiresConfirmation && allowed_tools.includes(tool.id) ? { ...tool, requiresConfirmation: false } : tool

/** Older versions stored agents without the variables of their template. They can be sent back as they were read. */
const hasSamePrompt = (record: StoredAgent, current: StoredAgent | undefined): boolean =>
  record.prompt_template_id === current?.prompt_template_id && isDeepStrictEqual(record.variables, current.variables)

async function requireVariables(
  reader: DatabaseReader,
  templates: PromptTemplatesService,
  { prompt_template_id, variables }: StoredAgent,
): Promise<void> {
  if (prompt_template_id === null) return
  const { missing } = await templates.fill(reader, prompt_template_id, variables)
  if (missing.length === 0) return
  throw new CadreError('VALIDATION_ERROR', `variables: the prompt template needs a value for ${missing.join(', ')}.`, {
    details: missing.map((name) => ({ field: `variables.${name}`, problem: 'is required' })),
    hint: `Send variables, such as ${JSON.stringify({ variables: { [missing[0] as string]: '…' } })}.`,
  })
}

function listReferences({ model_id, prompt_template_id, tools, allowed_tools }: StoredAgent): Reference[] {
  const links = Object.entries({ tools, allowed_tools }).flatMap(([field, targets]) =>
    targets.map((target): Reference => ({ field, target, detach: { kind: 'item' } })),
  )
  return [...links, ...listNullable({ model_id, prompt_template_id })]
}

type Topic = StoredAgent['topics'][number]
/** Fixes the order of the fields, so that exports are stable. */
function normalizeTopic(topic: string | Partial<Topic>): Topic {
  const { name, description = '', ...rest } = typeof topic === 'string' ? { name: topic } : topic
  return { name, description, ...rest } as Topic
}
