/** Finds whose turn work of the embedded models takes, so that the many requests of one caller do not delay those of others. */

import type { Caller } from './caller.ts'
import type { CallOrigin } from './meter.ts'

/**
 * A request belongs to its token, and a reply to its user. Undefined: it takes a turn of its own. All evaluations of a caller are one
 * owner besides: many of them have no more turns than one, and they do not delay the caller's own questions.
 */
export function findOwner({ caller, origin }: { caller?: Caller | undefined; origin: CallOrigin }): string | undefined {
  if (origin.evaluation_id) return `evaluations of ${caller?.tokenId ?? origin.user_id ?? 'all'}`
  return caller?.tokenId ?? origin.user_id ?? origin.conversation_id ?? undefined
}

/** What a person waits for comes before the test cases of evaluations. */
export const getPriority = ({ origin }: { origin: CallOrigin }): 'high' | 'normal' => (origin.evaluation_id ? 'normal' : 'high')
