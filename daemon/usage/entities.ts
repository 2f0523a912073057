/** Whom a call is counted for, and how money is rounded. */
import type { ENTITY_TYPES } from '../../src/contract/usage.ts'
import type { CallOrigin } from '../metering.ts'

export type EntityType = (typeof ENTITY_TYPES)[number]

/** Without a type it is everything. */
export interface Entity {
  type: EntityType | ''
  id: string
}

export const EVERYTHING: Entity = { type: '', id: '' }

/** What of a call's origin is an entity; its conversation and message are not. */
const COUNTED = { agent: 'agent_id', rag_tool: 'rag_tool_id', prompt_template: 'prompt_template_id', evaluation: 'evaluation_id', user: 'user_id' } as const

/** Everything, and whoever it was for. */
export function originsOf(origin: CallOrigin): Entity[] {
  const named = Object.entries(COUNTED).flatMap(([type, field]) => {
    const id = origin[field]
    return id === undefined || id === null ? [] : [{ type: type as EntityType, id }]
  })
  return [EVERYTHING, ...named]
}

export const entitiesOf = (modelId: string, origin: CallOrigin): Entity[] => [...originsOf(origin), { type: 'model', id: modelId }]

/**
 * Sums of floating-point prices end in stray digits: eight times 0.1 is less than 0.8. Twelve digits are more than any
 * price has and fewer than the error reaches, also after a million additions.
 */
export const money = (amount: number): number => Number(amount.toPrecision(12))
