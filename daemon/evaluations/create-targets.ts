/** The four kinds of targets, over the services that own them. */
import { CadreError } from '../../src/contract/errors.ts'
import type { AgentSnapshot, AgentsService } from '../agents/service.ts'
import type { ApiToolsService } from '../api-tools/service.ts'
import type { AskOnce } from '../conversations/agent-loop/ask-once.ts'
import { CitationRegistry } from '../conversations/reply/citations.ts'
import type { CallOrigin, Settlement } from '../core/meter.ts'
import type { KnowledgeService } from '../knowledge/service.ts'
import type { GeneratedText, ModelsService } from '../models/service.ts'
import { fillTemplate, type PromptTemplatesService } from '../prompt-templates/service.ts'
import type { RagToolsService } from '../rag-tools/service.ts'
import type { RetrievalToolsService } from '../retrieval-tools/service.ts'
import type { Database, Reader } from '../store/database.ts'
import type { CaseUse, Target, TargetAnswer, Targets } from './targets.ts'

export interface TargetParts {
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
  findView(reader: Reader, id: string): Promise<object | undefined>
}

type Template = Parameters<typeof fillTemplate>[0]

/** Runs of before the template was kept have none. */
type KeptAgent = AgentSnapshot & { prompt_template?: Template | null }

export const targetKinds = (parts: TargetParts): Targets => ({
  agent: agentTarget(parts),
  rag_tool: ragToolTarget(parts),
  prompt_template: templateTarget(parts),
  model: modelTarget(parts),
})

function agentTarget({ database, agents, models, templates, askOnce, ragTools, retrievalTools, apiTools, knowledge }: TargetParts): Target {
  const toolFamilies = [ragTools, retrievalTools, apiTools]
  return {
    exists: (reader, id) => agents.exists(reader, id),
    async configuration(reader, id) {
      const snapshot = await agents.findSnapshot(reader, id)
      if (!snapshot) return undefined
      const tools = await Promise.all(snapshot.agent.tools.map((tool) => toolAsItIs(reader, toolFamilies, tool)))
      const { prompt_template_id } = snapshot.agent
      const sources = new Set(tools.flatMap(sourcesOf))
      return {
        ...snapshot,
        prompt_template: prompt_template_id === null ? null : await templates.records.get(reader, prompt_template_id),
        model: await models.findPublicModel(reader, snapshot.agent.model_id),
        tools,
        indexes: await Promise.all([...sources].map((source) => knowledge.describe(reader, source))),
      }
    },
    asConfigured(configuration) {
      const kept = configuration as unknown as KeptAgent
      const usual = once(() => agents.loadSnapshot(database, kept))
      const chosen = once(() => models.getChatModel(database, kept.agent.model_id))
      return async ({ input, variables }, { evaluationId, caller, turn, signal }) => {
        const agent = await (kept.prompt_template && variables
          ? agents.loadSnapshot(database, toldBy(kept, kept.prompt_template, variables))
          : usual())
        const origin = originOf(evaluationId, caller)
        const { message, unsettled } = await askOnce({ agent, model: await chosen(), question: input, caller, origin, turn, signal })
        return {
          output: message.content,
          citations: message.citations ?? [],
          usage: message.usage ?? null,
          cost: message.cost ?? null,
          latency_ms: message.latency_ms ?? 0,
          unsettled: [unsettled],
        }
      }
    },
  }
}

/** A tool in full, as callers see it: its secrets are not kept with a run. */
async function toolAsItIs(reader: Reader, families: readonly ToolFamily[], id: string): Promise<Record<string, unknown>> {
  for (const family of families) {
    const tool = await family.findView(reader, id)
    if (tool) return { ...tool }
  }
  return { id }
}

const sourcesOf = ({ knowledge_source_id, knowledge_source_ids }: Record<string, unknown>): string[] =>
  [knowledge_source_id ?? [], knowledge_source_ids ?? []].flat() as string[]

/** The prompt with the values of a test case over the agent's own. */
function toldBy({ agent }: KeptAgent, template: Template, variables: Record<string, unknown>): AgentSnapshot {
  return { agent, prompt: filled(template, { ...agent.variables, ...variables }) }
}

/** Made when first asked for, and the same ever after. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

function filled(template: Template, variables: Record<string, unknown>): string {
  const { text, missing } = fillTemplate(template, variables)
  if (missing.length === 0) return text
  throw new CadreError('VALIDATION_ERROR', `The test case has no value for ${missing.join(', ')}, which the template needs.`)
}

function ragToolTarget({ ragTools, models, knowledge }: TargetParts): Target {
  return {
    exists: (reader, id) => ragTools.exists(reader, id),
    async configuration(reader, id) {
      const tool = await ragTools.records.get(reader, id)
      if (!tool) return undefined
      const index = tool.knowledge_source_id === null ? null : await knowledge.describe(reader, tool.knowledge_source_id)
      return { rag_tool: tool, model: await models.findPublicModel(reader, tool.model_id), index }
    },
    asConfigured({ rag_tool }) {
      const tool = rag_tool as Parameters<RagToolsService['answer']>[0]
      return async ({ input }, { evaluationId, caller, turn, signal }) => {
        const done = await turn()
        const begun = performance.now()
        const { results, answer } = await ragTools.answer(tool, { query: input }, originOf(evaluationId, caller), signal).finally(done)
        const citations = new CitationRegistry()
        for (const passage of results) citations.add(passage)
        return { ...answered(answer), citations: citations.listFor(answer.text), latency_ms: Math.round(performance.now() - begun) }
      }
    },
  }
}

/** A template is what a model is told; the test case's input is what it is asked. */
function templateTarget({ database, templates, models }: TargetParts): Target {
  return {
    exists: (reader, id) => templates.exists(reader, id),
    async configuration(reader, id) {
      const template = await templates.records.get(reader, id)
      return template && { prompt_template: template, model: await models.findPublicModel(reader, null) }
    },
    asConfigured({ prompt_template, model }) {
      const template = prompt_template as Template & { id: string }
      const chosen = once(() => models.getChatModel(database, idOf(model)))
      return async ({ input, variables = {} }, { evaluationId, caller, turn, signal }) => {
        const messages = [
          { role: 'system' as const, content: filled(template, variables) },
          { role: 'user' as const, content: input },
        ]
        const origin = { ...originOf(evaluationId, caller), prompt_template_id: template.id }
        return answered(await models.generateUnsettled(await chosen(), { messages, origin, turn, signal }))
      }
    },
  }
}

function modelTarget({ database, models }: TargetParts): Target {
  return {
    exists: (reader, id) => models.exists(reader, id),
    async configuration(reader, id) {
      const model = await models.findPublicModel(reader, id)
      return model && { model }
    },
    asConfigured({ model }) {
      const chosen = once(() => models.getChatModel(database, idOf(model)))
      return async ({ input }, { evaluationId, caller, turn, signal }) => {
        const messages = [{ role: 'user' as const, content: input }]
        return answered(await models.generateUnsettled(await chosen(), { messages, origin: originOf(evaluationId, caller), turn, signal }))
      }
    },
  }
}

const idOf = (model: unknown): string => (model as { id: string }).id

function originOf(evaluationId: string, { userId }: CaseUse['caller']): CallOrigin {
  return { evaluation_id: evaluationId, ...(userId === null ? {} : { user_id: userId }) }
}

function answered({
  text,
  usage: { inputTokens, outputTokens },
  cost,
  latencyMs,
  unsettled,
}: GeneratedText & { unsettled?: Settlement }): TargetAnswer {
  const usage = { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens }
  return { output: text, citations: [], usage, cost, latency_ms: Math.round(latencyMs), unsettled: unsettled ? [unsettled] : [] }
}
