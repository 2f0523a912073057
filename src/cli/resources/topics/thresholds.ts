import { usageThresholdRoutes, usageThresholds } from '../../../contract/families/usage.ts'
import { getKindsByField } from '../resolve-references.ts'
import type { Topic } from '../topic.ts'

export const thresholdTopic: Topic = {
  command: 'usage thresholds',
  family: usageThresholds,
  routes: usageThresholdRoutes,
  columns: ['id', 'name', 'metric', 'limit', 'period', 'action', 'entity_type', 'entity_id'],
  label: 'name',
  references: { entity_id: getKindsByField('entity_type', ['agent', 'model', 'rag_tool', 'prompt_template', 'evaluation']) },
}
