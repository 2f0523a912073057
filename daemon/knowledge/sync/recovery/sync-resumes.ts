/** Counts how often syncs were resumed. One that ends the daemon again and again is parked: only a user can start it. */
import type { Logger } from '../../../logging/logger.ts'
import type { Database, Transaction } from '../../../store/database.ts'
import { countResume, forgetResumes, listParkedJobs } from '../../../store/job-resumes.ts'
import { parkSources } from '../sync-store.ts'

const PARKED_ERROR =
  'The daemon ended twice after it had resumed this sync, so it was not resumed again. A document or the configuration may be the cause; ' +
  'see the log (cadre daemon logs), then sync again (cadre knowledge sync).'

export class SyncResumes {
  readonly #database: Database
  readonly #logger: Logger
  /** Sources whose interrupted sync was resumed and has not ended. */
  readonly #resumed = new Set<string>()
  readonly #parked = new Set<string>()

  constructor(database: Database, logger: Logger) {
    this.#database = database
    this.#logger = logger
  }

  isParked(sourceId: string): boolean {
    return this.#parked.has(sourceId)
  }

  /** Marks those of the sources as failed whose sync was resumed too often. */
  async park(sourceIds: ReadonlySet<string>): Promise<void> {
    const parked = [...(await listParkedJobs(this.#database, 'sync'))].filter((sourceId) => sourceIds.has(sourceId))
    if (parked.length === 0) return
    for (const sourceId of parked) this.#parked.add(sourceId)
    this.#logger.error({ sources: parked }, 'syncs are not resumed again: the daemon ended twice after it had resumed them')
    await this.#database.write((transaction) => parkSources(transaction, parked, PARKED_ERROR))
  }

  async count(sourceId: string): Promise<void> {
    this.#resumed.add(sourceId)
    await this.#database.write((transaction) => countResume(transaction, 'sync', sourceId))
  }

  /** A user starts a sync, unless the resumed one is still running. It may have been parked by a daemon that has ended. */
  async reset(transaction: Transaction, sourceId: string): Promise<void> {
    this.#parked.delete(sourceId)
    if (!this.#resumed.has(sourceId)) await forgetResumes(transaction, 'sync', sourceId)
  }

  /** A sync has ended. */
  async end(sourceId: string): Promise<void> {
    if (this.#resumed.delete(sourceId)) await this.#forget(sourceId)
  }

  /** A source was deleted. */
  async remove(sourceId: string): Promise<void> {
    if (this.#parked.delete(sourceId)) await this.#forget(sourceId)
  }

  async #forget(sourceId: string): Promise<void> {
    await this.#database.write((transaction) => forgetResumes(transaction, 'sync', sourceId))
  }
}
