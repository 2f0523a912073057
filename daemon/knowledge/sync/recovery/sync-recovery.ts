/** Continues syncs that a stop, a crash or the end of another daemon interrupted. */
import type { Database } from '../../../store/database.ts'
import type { SyncLeases } from '../sync-leases.ts'
import { listInterruptedSources } from '../sync-store.ts'
import type { Synchronizer, SyncScope } from '../synchronizer.ts'
import type { IndexRepair } from './index-repair.ts'
import type { SyncResumes } from './sync-resumes.ts'

interface SyncRecoveryDependencies {
  database: Database
  syncLeases: SyncLeases
  resumes: SyncResumes
  repair: IndexRepair
  synchronizer: Synchronizer
}

export class SyncRecovery {
  readonly #dependencies: SyncRecoveryDependencies
  /** Sources that were taken over but not yet resumed. */
  #claimed: Set<string> | undefined
  #hasResumed = false

  constructor(dependencies: SyncRecoveryDependencies) {
    this.#dependencies = dependencies
  }

  /** Claims the sources that no other daemon has, and marks those whose sync must not be resumed again as failed. */
  async takeOver(): Promise<Set<string>> {
    const { syncLeases, resumes } = this.#dependencies
    this.#claimed = await syncLeases.claimAbandoned()
    if (this.#claimed.size > 0) await resumes.park(this.#claimed)
    return this.#claimed
  }

  /** Repairs the indexes of sources that were taken over, and resumes their syncs. Returns these sources. */
  async resume(): Promise<Set<string>> {
    const { database, repair, resumes } = this.#dependencies
    const claimed = this.#claimed ?? (await this.takeOver())
    this.#claimed = undefined
    // The first repair also removes the tables of sources that were being deleted.
    if (claimed.size === 0 && this.#hasResumed) return claimed
    this.#hasResumed = true
    // At once: a sync that a user starts meanwhile must wait for the repair, which would undo its work.
    const repaired = repair.run(claimed)
    const interrupted = (await listInterruptedSources(database)).filter((sourceId) => claimed.has(sourceId))
    // These wait for the repair, but already report progress.
    await Promise.all(interrupted.map((sourceId) => this.#resumeSource(sourceId, 'all')))
    for (const sourceId of await repaired)
      if (!interrupted.includes(sourceId) && !resumes.isParked(sourceId)) await this.#resumeSource(sourceId, 'indexes')
    return claimed
  }

  async #resumeSource(sourceId: string, scope: SyncScope): Promise<void> {
    const { resumes, synchronizer } = this.#dependencies
    // Not awaited first: a client that reads the status must find progress.
    await Promise.all([resumes.count(sourceId), synchronizer.start(sourceId, scope)])
  }
}
