/** RAG tools: one knowledge source, and how it is cut, embedded and asked. */
import type { Static } from 'typebox'
import { invalid } from '../../src/contract/errors.ts'
import { type RagToolCreate, type RagToolUpdate, ragTools } from '../../src/contract/rag-tools.ts'
import { Resource } from '../crud/service.ts'
import { checkedChunking, embeddingReference } from '../knowledge/indexing.ts'
import type { KnowledgeService } from '../knowledge/service.ts'
import type { ModelsService } from '../models/service.ts'
import type { Database } from '../store/database.ts'
import type { Reference } from '../store/links.ts'
import { ragToolRecords, type StoredRagTool } from './store.ts'

type RagToolInput = Static<typeof RagToolCreate> | Static<typeof RagToolUpdate>

export class RagToolsService extends Resource<StoredRagTool, RagToolInput> {
  constructor(database: Database, models: ModelsService, knowledge: KnowledgeService) {
    super(database, ragTools, ragToolRecords, {
      prepare: async (record, given, { transaction }) => {
        const source = given.knowledge_source_id
        if (source !== undefined && !(await knowledge.exists(transaction, source)))
          throw invalid('knowledge_source_id', `there is no knowledge source "${source}"`)
        return {
          ...record,
          embedding_model: await checkedChunking(transaction, models, record),
          model_id: given.model_id ? await models.resolve(transaction, given.model_id, 'model_id') : record.model_id,
        }
      },
      references,
    })
  }
}

function references(tool: StoredRagTool): Reference[] {
  const links = embeddingReference(tool)
  if (tool.knowledge_source_id !== null) links.push({ field: 'knowledge_source_id', target: tool.knowledge_source_id, detach: { kind: 'value', value: null } })
  if (tool.model_id !== null) links.push({ field: 'model_id', target: tool.model_id, detach: { kind: 'value', value: null } })
  return links
}
