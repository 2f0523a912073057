import { retrievalToolRoutes, retrievalTools } from '../../../contract/families/retrieval-tools.ts'
import type { Topic } from '../topic.ts'

export const retrievalTopic: Topic = {
  command: 'retrieval',
  family: retrievalTools,
  routes: retrievalToolRoutes,
  columns: ['id', 'name', 'search_method', 'top_k', 'rerank', 'description'],
  label: 'name',
  getNextStep: ({ name }) => ['Search with it', `cadre retrieval search ${name} "…"`],
  references: { knowledge_source_ids: ['knowledge_source'] },
}
