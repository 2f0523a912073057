import { memories, memoryRoutes } from '../../../contract/families/memory/memories.ts'
import type { Topic } from '../topic.ts'

export const memoryTopic: Topic = {
  command: 'memory',
  family: memories,
  routes: memoryRoutes,
  columns: ['id', 'content', 'agent_id', 'user_id', 'updated_at'],
  createExample: "cadre memory add 'The user works in the Berlin office.' --agent NAME",
  references: { agent_id: ['agent'] },
}
