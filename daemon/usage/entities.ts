/** Whom a call is counted for. */
import { agents } from '../../src/contract/families/agents.ts'
import { evaluations } from '../../src/contract/families/evaluations.ts'
import { models } from '../../src/contract/families/models.ts'
import { promptTemplates } from '../../src/contract/families/prompt-templates.ts'
import { ragTools } from '../../src/contract/families/rag-tools.ts'
import type { ENTITY_TYPES } from '../../src/contract/families/usage.ts'
import type { CallOrigin } from '../core/meter.ts'

export type EntityType = (typeof ENTITY_TYPES)[number]

/** Without a type it is everything, without an id all of that type. */
export interface Entity {
  type: EntityType | ''
  id: string
}

export const EVERYTHING: Entity = { type: '', id: '' }

/** What of a call's origin is an entity; its conversation and message are not. */
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
    return id === undefined || id === null ? [] : [{ type: type as EntityType, id }]
  })
}

/** Whom thresholds can be about: everything, whoever it was for, and the model. */
export const listBudgetEntities = (modelId: string, origin: CallOrigin): Entity[] => [
  EVERYTHING,
  ...listOrigins(origin),
  { type: 'model', id: modelId },
]

/** Whose sums it goes into: everything, whoever it was for, and all of the same kind. */
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

/** What an identifier is of. Those of users are made elsewhere and look like anything. */
export function detectEntityType(id: string): EntityType {
  const [, prefix = ''] = /^([a-z]+)_[0-9a-f]{8}-[0-9a-f]{4}-/.exec(id) ?? []
  return TYPES_BY_PREFIX[prefix] ?? 'user'
}
