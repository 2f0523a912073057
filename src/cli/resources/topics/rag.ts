import { ragToolRoutes, ragTools } from '../../../contract/families/rag-tools.ts'
import type { Topic } from '../topic.ts'

export const ragTopic: Topic = {
  command: 'rag',
  family: ragTools,
  routes: ragToolRoutes,
  columns: ['id', 'name', 'knowledge_source_id', 'top_k', 'rerank', 'description'],
  label: 'name',
  nullLabels: { model_id: 'the default model' },
  getNextStep: ({ name }) => ['Ask it a question', `cadre rag query ${name} "…"`],
  references: { knowledge_source_id: ['knowledge_source'], model_id: ['model'] },
}
