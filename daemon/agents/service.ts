/** Agents: a model, a prompt and tools that all exist. */
import type { Static } from 'typebox'
import { type AgentCreate, type AgentUpdate, agents } from '../../src/contract/agents.ts'
import { invalid } from '../../src/contract/errors.ts'
import { Resource } from '../crud/service.ts'
import type { ModelsService } from '../models/service.ts'
import type { PromptTemplatesService } from '../prompt-templates/service.ts'
import type { Database, Reader } from '../store/database.ts'
import type { Reference } from '../store/links.ts'
import { agentRecords, type StoredAgent } from './store.ts'

type AgentInput = Static<typeof AgentCreate> | Static<typeof AgentUpdate>

/** A family whose resources an agent can use as tools. */
export interface ToolKind {
  exists(reader: Reader, id: string): Promise<boolean>
}

export class AgentsService extends Resource<StoredAgent, AgentInput> {
  constructor(database: Database, models: ModelsService, templates: PromptTemplatesService, toolKinds: readonly ToolKind[]) {
    super(database, agents, agentRecords, {
      prepare: async (record, given, { transaction }) => {
        for (const id of given.tools ?? []) await requireTool(transaction, toolKinds, id)
        const template = given.prompt_template_id
        if (template && !(await templates.exists(transaction, template))) throw invalid('prompt_template_id', `there is no prompt template "${template}"`)
        return {
          ...record,
          model_id: given.model_id ? await models.resolve(transaction, given.model_id, 'model_id') : record.model_id,
          topics: record.topics.map(spelledOut),
        }
      },
      references,
    })
  }
}

async function requireTool(reader: Reader, kinds: readonly ToolKind[], id: string): Promise<void> {
  for (const kind of kinds) if (await kind.exists(reader, id)) return
  throw invalid('tools', `there is no tool "${id}"`, 'Tools are RAG, retrieval and API tools, by their ids.')
}

function references({ model_id, prompt_template_id, tools }: StoredAgent): Reference[] {
  const links: Reference[] = tools.map((target) => ({ field: 'tools', target, detach: { kind: 'item' } }))
  if (model_id !== null) links.push({ field: 'model_id', target: model_id, detach: { kind: 'value', value: null } })
  if (prompt_template_id !== null) links.push({ field: 'prompt_template_id', target: prompt_template_id, detach: { kind: 'value', value: null } })
  return links
}

type Topic = StoredAgent['topics'][number]
const spelledOut = (topic: string | Partial<Topic>): Topic =>
  typeof topic === 'string' ? { name: topic, description: '' } : ({ description: '', ...topic } as Topic)
