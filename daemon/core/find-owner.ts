/** Finds whose turn work of the embedded models takes, so that the many requests of one caller do not delay those of others. */
import type { Caller } from './caller.ts'
import type { CallOrigin } from './meter.ts'

/** An evaluation is one owner, a request belongs to its token, and a reply to its user. Undefined: it takes a turn of its own. */
export function findOwner({ caller, origin }: { caller?: Caller | undefined; origin: CallOrigin }): string | undefined {
  return origin.evaluation_id ?? caller?.tokenId ?? origin.user_id ?? origin.conversation_id ?? undefined
}
