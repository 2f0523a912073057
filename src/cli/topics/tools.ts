/** API tools at the terminal. */
import { apiToolRoutes, apiTools } from '../../contract/api-tools.ts'
import type { Topic } from '../topic.ts'

export const toolTopic: Topic = {
  command: 'tools',
  family: apiTools,
  routes: apiToolRoutes,
  columns: ['id', 'name', 'method', 'url', 'description'],
  label: 'name',
  references: {},
}
