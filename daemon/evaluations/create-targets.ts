/** Creates the targets of evaluations: agents, RAG tools, prompt templates and models. */
import { CadreError } from '../../src/contract/errors.ts'
import type { AgentSnapshot, AgentsService } from '../agents/service.ts'
import type { ApiToolsService } from '../api-tools/service.ts'
import type { AskOnce } from '../conversations/agent-loop/ask-once.ts'
import { CitationRegistry } from '../conversations/reply/citations.ts'
import { type Settlement, toUsageView } from '../core/meter.ts'
import type { KnowledgeService } from '../knowledge/service.ts'
import type { ChatMessage } from '../models/chat-model.ts'
import type { GeneratedText, ModelsService } from '../models/service.ts'
import { fillTemplate, type PromptTemplatesService } from '../prompt-templates/service.ts'
import type { RagToolsService } from '../rag-tools/service.ts'
import type { RetrievalToolsService } from '../retrieval-tools/service.ts'
import type { Database, DatabaseReader } from '../store/database.ts'
import type { CaseContext, Target, TargetAnswer, Targets } from './targets.ts'

export interface TargetDependencies {
  database: Database
  models: ModelsService
  templates: PromptTemplatesService
  knowledge: KnowledgeService
  ragTools: RagToolsService
  retrievalTools: RetrievalToolsService
  apiTools: ApiToolsService
  agents: AgentsService
  askOnce: AskOnce
}

interface ToolFamily {
  findView(reader: DatabaseReader, id: string): Promise<object | undefined>
}

type Template = Parameters<typeof fillTemplate>[0]

/** Older runs were stored without the template. */
type AgentConfiguration = AgentSnapshot & { prompt_template?: Template | null }

export const createTargets = (parts: TargetDependencies): Targets => ({
  agent: createAgentTarget(parts),
  rag_tool: createRagToolTarget(parts),
  prompt_template: createTemplateTarget(parts),
  model: createModelTarget(parts),
})

function createAgentTarget(dependencies: TargetDependencies): Target {
  const { database, agents, models, templates, knowledge, askOnce } = dependencies
  const toolFamilies = [dependencies.ragTools, dependencies.retrievalTools, dependencies.apiTools]
  return {
    exists: (reader, id) => agents.exists(reader, id),
    async getConfiguration(reader, id) {
      const snapshot = await agents.findSnapshot(reader, id)
      if (!snapshot) return undefined
      const tools = await Promise.all(snapshot.agent.tools.map((tool) => describeTool(reader, toolFamilies, tool)))
      const { prompt_template_id } = snapshot.agent
      const sources = new Set(tools.flatMap(listSourceIds))
      return {
        ...snapshot,
        prompt_template: prompt_template_id === null ? null : await templates.records.get(reader, prompt_template_id),
        model: await models.findPublicModel(reader, snapshot.agent.model_id),
        tools,
        indexes: await Promise.all([...sources].map((source) => knowledge.describe(reader, source))),
      }
    },
    prepare(configuration) {
      const stored = configuration as unknown as AgentConfiguration
      const getAgent = memoize(() => agents.loadSnapshot(database, stored))
      const getModel = memoize(() => models.getChatModel(database, stored.agent.model_id))
      return async ({ input, variables, memories }, { origin, caller, acquire, signal }) => {
        const loadedAgent = await (stored.prompt_template && variables
          ? agents.loadSnapshot(database, createSnapshot(stored, stored.prompt_template, variables))
          : getAgent())
        const model = await getModel()
        const { message, unsettled } = await askOnce({
          loadedAgent,
          model,
          question: input,
          facts: memories,
          caller,
          origin,
          turn: acquire,
          signal,
        })
        return {
          output: message.content,
          citations: message.citations ?? [],
          usage: message.usage ?? null,
          cost: message.cost ?? null,
          latency_ms: message.latency_ms ?? 0,
          confidence: message.confidence,
          unsettled: [unsettled],
        }
      }
    },
  }
}

/** Returns the public view of a tool: runs store no secrets. */
async function describeTool(reader: DatabaseReader, families: readonly ToolFamily[], id: string): Promise<Record<string, unknown>> {
  for (const family of families) {
    const tool = await family.findView(reader, id)
    if (tool) return { ...tool }
  }
  return { id }
}

const listSourceIds = ({ knowledge_source_id, knowledge_source_ids }: Record<string, unknown>): string[] =>
  [knowledge_source_id ?? [], knowledge_source_ids ?? []].flat() as string[]

/** The variables of the test case override the agent's own. */
function createSnapshot({ agent }: AgentConfiguration, template: Template, variables: Record<string, unknown>): AgentSnapshot {
  return { agent, prompt: renderTemplate(template, { ...agent.variables, ...variables }) }
}

function memoize<T>(create: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined
  return () => {
    value ??= create()
    return value
  }
}

function renderTemplate(template: Template, variables: Record<string, unknown>): string {
  const { text, missing } = fillTemplate(template, variables)
  if (missing.length === 0) return text
  throw new CadreError('VALIDATION_ERROR', `The test case has no value for the template variables ${missing.join(', ')}.`)
}

function createRagToolTarget({ ragTools, models, knowledge }: TargetDependencies): Target {
  return {
    exists: (reader, id) => ragTools.exists(reader, id),
    async getConfiguration(reader, id) {
      const tool = await ragTools.records.get(reader, id)
      if (!tool) return undefined
      const index = tool.knowledge_source_id === null ? null : await knowledge.describe(reader, tool.knowledge_source_id)
      return { rag_tool: tool, model: await models.findPublicModel(reader, tool.model_id), index }
    },
    prepare({ rag_tool }) {
      const tool = rag_tool as Parameters<RagToolsService['answer']>[0]
      return async ({ input }, { origin, acquire, signal }) => {
        const release = await acquire()
        const startTime = performance.now()
        const { results, answer } = await ragTools.answer(tool, { query: input }, origin, signal).finally(release)
        const citations = new CitationRegistry()
        for (const passage of results) citations.add(passage)
        return {
          ...toTargetAnswer(answer),
          citations: citations.listFor(answer.text),
          latency_ms: Math.round(performance.now() - startTime),
        }
      }
    },
  }
}

/** The template becomes the system message, the input of the test case the user message. */
function createTemplateTarget(dependencies: TargetDependencies): Target {
  const { templates, models } = dependencies
  return {
    exists: (reader, id) => templates.exists(reader, id),
    async getConfiguration(reader, id) {
      const template = await templates.records.get(reader, id)
      return template && { prompt_template: template, model: await models.findPublicModel(reader, null) }
    },
    prepare({ prompt_template, model }) {
      const template = prompt_template as Template & { id: string }
      const ask = createModelCall(dependencies, model)
      return async ({ input, variables = {} }, { origin, ...context }) => {
        const system = { role: 'system' as const, content: renderTemplate(template, variables) }
        return ask([system, { role: 'user', content: input }], { ...context, origin: { ...origin, prompt_template_id: template.id } })
      }
    },
  }
}

function createModelTarget(dependencies: TargetDependencies): Target {
  const { models } = dependencies
  return {
    exists: (reader, id) => models.exists(reader, id),
    async getConfiguration(reader, id) {
      const model = await models.findPublicModel(reader, id)
      return model && { model }
    },
    prepare({ model }) {
      const ask = createModelCall(dependencies, model)
      return async ({ input }, context) => ask([{ role: 'user', content: input }], context)
    },
  }
}

/** Returns a function that calls the model of a configuration. */
function createModelCall({ database, models }: TargetDependencies, model: unknown) {
  const getModel = memoize(() => models.getChatModel(database, (model as { id: string }).id))
  return async (messages: readonly ChatMessage[], { origin, acquire, signal }: CaseContext): Promise<TargetAnswer> => {
    const reply = await models.generateUnsettled(await getModel(), { messages, origin, turn: acquire, signal })
    return toTargetAnswer(reply, [reply.unsettled])
  }
}

function toTargetAnswer({ text, usage, cost, latencyMs, confidence }: GeneratedText, unsettled: readonly Settlement[] = []): TargetAnswer {
  const latency_ms = Math.round(latencyMs)
  return { output: text, citations: [], usage: toUsageView(usage), cost, latency_ms, confidence, unsettled }
}
