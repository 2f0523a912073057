/** Limits the searches of each owner that run at once, so that the many searches of one do not delay what others wait for. */
import { availableParallelism } from 'node:os'
import { OwnerLimit } from '../../async/owner-limit.ts'
import type { EmbeddedModels } from '../../inference/embedded-models.ts'

/** Hundreds, such as those of an evaluation, would delay everybody's. */
const MAX_SEARCHES = 8
/** While others search, or wait for an answer of the embedded model: half of the cores are left to them. */
const MAX_SHARED_SEARCHES = Math.min(MAX_SEARCHES, Math.max(1, Math.floor(availableParallelism() / 2)))

export const limitSearches = (models: Pick<EmbeddedModels, 'hasOtherReaders'>): OwnerLimit =>
  new OwnerLimit({ alone: MAX_SEARCHES, shared: MAX_SHARED_SEARCHES, areOthersBusy: (owner) => models.hasOtherReaders(owner) })
