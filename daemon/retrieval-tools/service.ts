/** Retrieval tools: the knowledge sources they search, and how. */
import type { Static } from 'typebox'
import { invalid } from '../../src/contract/errors.ts'
import { type RetrievalToolCreate, type RetrievalToolUpdate, retrievalTools } from '../../src/contract/retrieval-tools.ts'
import { Resource } from '../crud/service.ts'
import { checkedChunking, checkFilters, embeddingReference } from '../knowledge/indexing.ts'
import type { KnowledgeService } from '../knowledge/service.ts'
import type { ModelsService } from '../models/service.ts'
import type { Database } from '../store/database.ts'
import { retrievalToolRecords, type StoredRetrievalTool } from './store.ts'

type RetrievalToolInput = Static<typeof RetrievalToolCreate> | Static<typeof RetrievalToolUpdate>

export class RetrievalToolsService extends Resource<StoredRetrievalTool, RetrievalToolInput> {
  constructor(database: Database, models: ModelsService, knowledge: KnowledgeService) {
    super(database, retrievalTools, retrievalToolRecords, {
      prepare: async (record, given, { transaction }) => {
        for (const source of given.knowledge_source_ids ?? []) {
          if (!(await knowledge.exists(transaction, source))) throw invalid('knowledge_source_ids', `there is no knowledge source "${source}"`)
        }
        checkFilters(record.filters)
        return { ...record, embedding_model: await checkedChunking(transaction, models, record) }
      },
      references: (tool) => [
        ...embeddingReference(tool),
        ...tool.knowledge_source_ids.map((target) => ({ field: 'knowledge_source_ids', target, detach: { kind: 'item' as const } })),
      ],
    })
  }
}
