import { promptTemplateRoutes, promptTemplates } from '../../../contract/families/prompt-templates.ts'
import type { Topic } from '../topic.ts'

export const promptTopic: Topic = {
  command: 'prompts',
  family: promptTemplates,
  routes: promptTemplateRoutes,
  columns: ['id', 'name', 'type', 'variables', 'version', 'description'],
  label: 'name',
  references: {},
}
