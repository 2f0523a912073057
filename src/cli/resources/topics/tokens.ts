import { tokenRoutes, tokens } from '../../../contract/families/tokens.ts'
import type { Topic } from '../topic.ts'

export const tokenTopic: Topic = {
  command: 'tokens',
  family: tokens,
  routes: tokenRoutes,
  columns: ['id', 'name', 'role', 'user_id', 'expires_at', 'last_used_at'],
  label: 'name',
  references: {},
  oneTimeField: 'token',
}
