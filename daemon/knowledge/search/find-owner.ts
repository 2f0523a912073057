/** Finds whose turn a search takes, so that the many searches of one caller do not delay those of others. */
import type { Caller } from '../../core/caller.ts'
import type { CallOrigin } from '../../core/meter.ts'

/** An evaluation is one owner, a request belongs to its token, and a reply to its user. Undefined: the search takes a turn of its own. */
export function findOwner({ caller, origin }: { caller?: Caller | undefined; origin: CallOrigin }): string | undefined {
  return origin.evaluation_id ?? caller?.tokenId ?? origin.user_id ?? origin.conversation_id ?? undefined
}
