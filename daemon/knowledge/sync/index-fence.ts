/**
 * Only the daemon with the lease of a source writes its indexes. LanceDB does not know the lease: a daemon that lost it while it was
 * suspended may still add rows, but cannot record them, and removes them again.
 */
import { CadreError } from '../../../src/contract/errors.ts'
import type { Leases } from '../../cluster/cluster.ts'
import type { Transaction } from '../../store/database.ts'
import type { Index } from '../passage-indexes/index-store.ts'

/** Another daemon syncs the source now, and stores its status. */
export class LeaseLostError extends CadreError {
  constructor() {
    super('CONFLICT', 'Another daemon syncs this source now.')
  }
}

export const formatSyncLease = (sourceId: string) => `sync/${sourceId}`

/** Returns the fence, with which the transaction that records the rows is checked. */
export async function claimIndex(leases: Leases, transaction: Transaction, index: Index): Promise<number> {
  const fence = await leases.claim(formatSyncLease(index.knowledge_source_id), transaction)
  if (fence === undefined) throw new LeaseLostError()
  return fence
}

export async function requireFence(leases: Leases, transaction: Transaction, index: Index, fence: number): Promise<void> {
  if (!(await leases.holds(transaction, formatSyncLease(index.knowledge_source_id), fence))) throw new LeaseLostError()
}
