/** The entities that model calls are attributed to. */
import { agents } from '../../src/contract/families/agents.ts'
import { evaluations } from '../../src/contract/families/evaluations.ts'
import { models } from '../../src/contract/families/models.ts'
import { promptTemplates } from '../../src/contract/families/prompt-templates.ts'
import { ragTools } from '../../src/contract/families/rag-tools.ts'
import type { ENTITY_TYPES } from '../../src/contract/families/usage.ts'
import type { CallOrigin } from '../core/meter.ts'

export type EntityType = (typeof ENTITY_TYPES)[number]

/** An empty type means all usage, an empty id all entities of the type. */
export interface Entity {
  type: EntityType | ''
  id: string
}

const EVERYTHING: Entity = { type: '', id: '' }

/** The fields of a call's origin that are entities; conversations and messages are not. */
export const ORIGIN_FIELDS = {
  agent: 'agent_id',
  rag_tool: 'rag_tool_id',
  prompt_template: 'prompt_template_id',
  evaluation: 'evaluation_id',
  user: 'user_id',
} as const

function listOrigins(origin: CallOrigin): Entity[] {
  return Object.entries(ORIGIN_FIELDS).flatMap(([type, field]) => {
    const id = origin[field]
    return id == null ? [] : [{ type: type as EntityType, id }]
  })
}

/** Lists the entities whose thresholds apply to a call. */
export const listBudgetEntities = (modelId: string, origin: CallOrigin): Entity[] => [
  EVERYTHING,
  ...listOrigins(origin),
  { type: 'model', id: modelId },
]

/** Lists the entities whose sums include a call. */
export const listSummedEntities = (origin: CallOrigin): Entity[] => [
  EVERYTHING,
  ...listOrigins(origin).flatMap(({ type, id }) => [
    { type, id: '' },
    { type, id },
  ]),
]

const TYPES_BY_PREFIX: Record<string, EntityType> = {
  [agents.prefix]: 'agent',
  [models.prefix]: 'model',
  [ragTools.prefix]: 'rag_tool',
  [promptTemplates.prefix]: 'prompt_template',
  [evaluations.prefix]: 'evaluation',
}

/** Detects the type by the id's prefix. Any other id is a user's: users are named by clients. */
export function detectEntityType(id: string): EntityType {
  const [, prefix = ''] = /^([a-z]+)_[0-9a-f]{8}-[0-9a-f]{4}-/.exec(id) ?? []
  return TYPES_BY_PREFIX[prefix] ?? 'user'
}
