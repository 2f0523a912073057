import { agentRoutes, agents } from '../../../contract/families/agents.ts'
import type { Topic } from '../topic.ts'

const TOOL_KINDS = ['rag_tool', 'retrieval_tool', 'api_tool', 'mcp_tool'] as const

export const agentTopic: Topic = {
  command: 'agents',
  family: agents,
  routes: agentRoutes,
  columns: ['id', 'name', 'model_id', 'tools', 'description', 'created_at'],
  label: 'name',
  nullLabels: { model_id: 'the default model' },
  getNextStep: ({ name }) => ['Ask it a question', `cadre ask ${name} "…"`],
  editableLists: ['tools'],
  references: {
    model_id: ['model'],
    tools: TOOL_KINDS,
    allowed_tools: TOOL_KINDS,
    prompt_template_id: ['prompt_template'],
  },
}
