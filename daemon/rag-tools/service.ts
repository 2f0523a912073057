/** RAG tools: answer questions from one knowledge source. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { type RagToolCreate, type RagToolUpdate, type ragToolRoutes, ragTools } from '../../src/contract/families/rag-tools.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { QueryResult } from '../../src/contract/schemas/passages.ts'
import type { Caller } from '../core/caller.ts'
import { createComputationPassage } from '../core/cite-computation.ts'
import { readCurrency } from '../core/currency.ts'
import { findOwner, getPriority } from '../core/find-owner.ts'
import { type CallOrigin, toUsageView } from '../core/meter.ts'
import { type RetrievedPassage, type Tool, toContextPassage } from '../core/tool.ts'
import { Resource } from '../crud/resource.ts'
import type { KnowledgeService } from '../knowledge/service.ts'
import { getEmbeddingReferences, normalizeFilters, validateChunking } from '../knowledge/tool-settings.ts'
import type { GeneratedText, ModelsService } from '../models/service.ts'
import type { Shared } from '../shared-services.ts'
import type { DatabaseReader } from '../store/database.ts'
import { listNullable } from '../store/links.ts'
import type { Page } from '../store/records.ts'
import type { Computation, Compute } from '../tables/computation.ts'
import { ragToolRecords, type StoredRagTool } from './store.ts'

type RagToolInput = Static<typeof RagToolCreate> | Static<typeof RagToolUpdate>

type RagQuery = Static<typeof ragToolRoutes.query.body>

export interface RagToolsDependencies extends Shared<'database'> {
  models: ModelsService
  knowledge: KnowledgeService
}

export class RagToolsService extends Resource<StoredRagTool, RagToolInput> {
  readonly #dependencies: RagToolsDependencies

  constructor(dependencies: RagToolsDependencies) {
    const { models, knowledge } = dependencies
    super(dependencies.database, ragTools, ragToolRecords, {
      prepare: async (draft, input, { transaction }) => {
        const source = input.knowledge_source_id
        if (source !== undefined && !(await knowledge.exists(transaction, source)))
          throw createValidationError('knowledge_source_id', `there is no knowledge source "${source}"`)
        const record = {
          ...draft,
          embedding_model: await validateChunking(transaction, models, draft),
          model_id: input.model_id ? await models.resolve(transaction, input.model_id, 'model_id') : draft.model_id,
        }
        await knowledge.claimIndexes(transaction, record.id, listSourceIds(record), record)
        return record
      },
      getReferences: (tool) => {
        const { knowledge_source_id, model_id } = tool
        return [...getEmbeddingReferences(tool), ...listNullable({ knowledge_source_id, model_id })]
      },
      afterSave: async (tool) => knowledge.refreshIndexes(listSourceIds(tool)),
      beforeRemove: async (transaction, { id }) => knowledge.releaseIndexes(transaction, id),
    })
    this.#dependencies = dependencies
  }

  override async list(caller: Caller, query: ListQuery): Promise<Page<StoredRagTool>> {
    return super.list(caller, await this.#dependencies.models.resolveFilter(query))
  }

  /** Returns the best passages and an answer that is based on them. */
  async query(caller: Caller, id: string, question: RagQuery, signal: AbortSignal): Promise<Static<typeof QueryResult>> {
    const stored = await this.require(this.database, caller, id)
    const origin = caller.userId === null ? {} : { user_id: caller.userId }
    const { models } = this.#dependencies
    const model_id = question.model_id ? await models.resolve(this.database, question.model_id, 'model_id') : stored.model_id
    await models.requireMaySpend(caller, model_id)
    const { results, answer, computations } = await this.answer({ ...stored, model_id }, question, origin, signal, caller)
    const { usage, cost, text, confidence } = answer
    const computation = computations.map(({ sql, table, document, interpretation, result, header, rowsUsed, rowCount }) => ({
      sql,
      table,
      document,
      interpretation,
      rows: result,
      rows_used: { count: rowCount, columns: header, first: rowsUsed.map(([row, ...cells]) => ({ row: Number(row), cells })) },
    }))
    return {
      query: question.query,
      results,
      answer: text,
      usage: toUsageView(usage),
      cost,
      currency: await readCurrency(this.database),
      ...(confidence ? { confidence } : {}),
      ...(computation.length > 0 ? { computation } : {}),
    }
  }

  /** Answers with the tool's own model or the default one. */
  async answer(
    tool: StoredRagTool,
    question: RagQuery,
    origin: CallOrigin,
    signal: AbortSignal,
    caller?: Caller,
  ): Promise<{ results: RetrievedPassage[]; answer: GeneratedText; computations: Computation[] }> {
    const charged = { ...origin, rag_tool_id: tool.id }
    const results = await this.#passages(tool, question, charged, signal, { caller })
    const { models, knowledge } = this.#dependencies
    const isFiltered = Object.keys(question.filters ?? {}).length > 0
    let computations: Computation[] = []
    // Filters select passages; they do not apply to the rows of a table.
    const compute: Compute = async (...asked) => {
      if (isFiltered) return { computations }
      const computed = await knowledge.computeAnswer(listSourceIds(tool), ...asked)
      // The rows used are the first results: a computed answer cites nothing else.
      computations = computed.computations.map((computation, index) => ({ ...computation, citation: index + 1 }))
      return { ...computed, computations }
    }
    const answer = await models.answer({
      modelId: tool.model_id,
      question: question.query,
      passages: results.map(toContextPassage),
      isFiltered,
      countDocuments: async () =>
        (await knowledge.countDocuments(listSourceIds(tool))).values().next().value ?? { documents: 0, recognizing: 0, skipped: 0 },
      compute,
      listNeighbours: async (index) => knowledge.listNeighbours(results[index]?.metadata ?? {}),
      origin: charged,
      owner: findOwner({ caller, origin }),
      priority: getPriority({ origin }),
      signal,
    })
    return { results: [...computations.map(createComputationPassage), ...results], answer, computations }
  }

  async findTool(reader: DatabaseReader, id: string): Promise<Tool | undefined> {
    const tool = await this.records.get(reader, id)
    if (!tool) return undefined
    return this.#dependencies.knowledge.createSearchTool(tool, listSourceIds(tool), (query, top_k, use) =>
      this.#passages(tool, { query, ...(top_k ? { top_k } : {}) }, { rag_tool_id: id }, use.signal, { owner: findOwner(use) }),
    )
  }

  async #passages(
    tool: StoredRagTool,
    { query, top_k, filters = {}, rerank = tool.rerank }: RagQuery,
    origin: CallOrigin,
    signal: AbortSignal,
    requester: { caller?: Caller | undefined; owner?: string | undefined },
  ): Promise<RetrievedPassage[]> {
    if (tool.knowledge_source_id === null)
      throw new CadreError('CONFLICT', 'The knowledge source of this tool was deleted.', { hint: 'Set another knowledge_source_id.' })
    const { results } = await this.#dependencies.knowledge.search({
      sourceIds: [tool.knowledge_source_id],
      settings: tool,
      query,
      method: 'hybrid',
      topK: top_k ?? tool.top_k,
      filters: normalizeFilters(filters),
      rerank,
      origin,
      signal,
      ...requester,
    })
    return results
  }
}

function listSourceIds({ knowledge_source_id }: StoredRagTool): string[] {
  return knowledge_source_id === null ? [] : [knowledge_source_id]
}
