/** Retrieval tools: search knowledge sources. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import {
  type RetrievalToolCreate,
  type RetrievalToolUpdate,
  type retrievalToolRoutes,
  retrievalTools,
} from '../../src/contract/families/retrieval-tools.ts'
import type { SearchResult } from '../../src/contract/schemas/passages.ts'
import type { Caller } from '../core/caller.ts'
import { findOwner } from '../core/find-owner.ts'
import type { Tool, ToolContext } from '../core/tool.ts'
import { Resource } from '../crud/resource.ts'
import type { KnowledgeService } from '../knowledge/service.ts'
import { getEmbeddingReferences, intersectFilters, normalizeFilters, validateChunking } from '../knowledge/tool-settings.ts'
import type { ModelsService } from '../models/service.ts'
import type { Shared } from '../shared-services.ts'
import type { DatabaseReader } from '../store/database.ts'
import { retrievalToolRecords, type StoredRetrievalTool } from './store.ts'

type RetrievalToolInput = Static<typeof RetrievalToolCreate> | Static<typeof RetrievalToolUpdate>

type SearchQuery = Static<typeof retrievalToolRoutes.search.body>

interface RetrievalToolsDependencies extends Shared<'database'> {
  models: ModelsService
  knowledge: KnowledgeService
}

export class RetrievalToolsService extends Resource<StoredRetrievalTool, RetrievalToolInput> {
  readonly #dependencies: RetrievalToolsDependencies

  constructor(dependencies: RetrievalToolsDependencies) {
    const { models, knowledge } = dependencies
    super(dependencies.database, retrievalTools, retrievalToolRecords, {
      prepare: async (draft, input, { transaction }) => {
        for (const source of input.knowledge_source_ids ?? []) {
          if (!(await knowledge.exists(transaction, source)))
            throw createValidationError('knowledge_source_ids', `there is no knowledge source "${source}"`)
        }
        normalizeFilters(draft.filters)
        const record = { ...draft, embedding_model: await validateChunking(transaction, models, draft) }
        await knowledge.claimIndexes(transaction, record.id, record.knowledge_source_ids, record)
        return record
      },
      getReferences: (tool) => [
        ...getEmbeddingReferences(tool),
        ...tool.knowledge_source_ids.map((target) => ({ field: 'knowledge_source_ids', target, detach: { kind: 'item' as const } })),
      ],
      afterSave: async ({ knowledge_source_ids }) => knowledge.refreshIndexes(knowledge_source_ids),
      beforeRemove: async (transaction, { id }) => knowledge.releaseIndexes(transaction, id),
    })
    this.#dependencies = dependencies
  }

  async search(caller: Caller, id: string, query: SearchQuery, signal: AbortSignal): Promise<Static<typeof SearchResult>> {
    return this.#searchSources(await this.require(this.database, caller, id), query, signal, { caller })
  }

  async findTool(reader: DatabaseReader, id: string): Promise<Tool | undefined> {
    const tool = await this.records.get(reader, id)
    if (!tool) return undefined
    const search = async (query: string, top_k: number | undefined, use: ToolContext) => {
      if (tool.knowledge_source_ids.length === 0) throw new CadreError('CONFLICT', 'The knowledge sources of this tool were deleted.')
      return (await this.#searchSources(tool, { query, ...(top_k ? { top_k } : {}) }, use.signal, { owner: findOwner(use) })).results
    }
    return this.#dependencies.knowledge.createSearchTool(tool, tool.knowledge_source_ids, search)
  }

  async #searchSources(
    tool: StoredRetrievalTool,
    { query, top_k, filters = {}, explain = false, rerank = tool.rerank }: SearchQuery,
    signal: AbortSignal,
    requester: { caller?: Caller | undefined; owner?: string | undefined },
  ): Promise<Static<typeof SearchResult>> {
    return this.#dependencies.knowledge.search({
      sourceIds: tool.knowledge_source_ids,
      settings: tool,
      query,
      method: tool.search_method,
      topK: top_k ?? tool.top_k,
      filters: intersectFilters(normalizeFilters(tool.filters), normalizeFilters(filters)),
      threshold: tool.score_threshold,
      explain,
      rerank,
      origin: {},
      signal,
      ...requester,
    })
  }
}
