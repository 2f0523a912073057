/** Which daemon syncs a source: the one that holds its lease. It keeps the lease, because it has the work files. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../../cluster/cluster.ts'
import type { Database, DatabaseReader } from '../../store/database.ts'
import { formatSyncLease } from './index-fence.ts'
import type { Changes, Progress, ProgressTracker } from './progress-tracker.ts'
import { listSourceLeases } from './sync-store.ts'

const POLL_INTERVAL_MS = 500

export const SYNC_REQUESTS = { start: 'sync.start', cancel: 'sync.cancel', forget: 'sync.forget', configure: 'sync.configure' } as const

/** What other daemons know about a sync. */
interface SyncState {
  /** Null if no sync is running. */
  progress: Progress | null
  changes: Changes | undefined
}

export class SyncLeases {
  readonly #database: Database
  readonly #cluster: Cluster
  /** The sources of this daemon, with the term of its leases in which they were claimed. */
  readonly #held = new Map<string, number>()
  /** Called if another daemon has taken over a source. */
  onLost: (sourceId: string) => void = () => {}

  constructor(database: Database, cluster: Cluster, progress: ProgressTracker) {
    this.#database = database
    this.#cluster = cluster
    progress.onChange = (sourceId) => cluster.states.announce(formatSyncLease(sourceId))
    cluster.states.provide(
      (lease): SyncState => {
        const sourceId = getSourceId(lease)
        return { progress: progress.get(sourceId) ?? null, changes: progress.getChanges(sourceId) }
      },
      (lease) => {
        this.#held.delete(getSourceId(lease))
        this.onLost(getSourceId(lease))
      },
    )
  }

  /** Claims the source. If another daemon has it, sends the request there and returns true. */
  async delegate(sourceId: string, kind: keyof typeof SYNC_REQUESTS, data?: unknown): Promise<boolean> {
    const { leases } = this.#cluster
    const { term } = leases
    if (term !== undefined && this.#held.get(sourceId) === term) return false
    if ((await leases.claim(formatSyncLease(sourceId))) !== undefined) {
      if (term !== undefined) this.#held.set(sourceId, term)
      return false
    }
    await this.send(sourceId, kind, data)
    return true
  }

  /** Sends a request to the daemon that has the source. Returns undefined if it is this one, or none. */
  async send<T>(sourceId: string, kind: keyof typeof SYNC_REQUESTS, data?: unknown): Promise<T | undefined> {
    const { leases, requests } = this.#cluster
    const holder = await leases.findHolder(formatSyncLease(sourceId))
    return holder === undefined ? undefined : requests.send<T>(holder, SYNC_REQUESTS[kind], sourceId, data)
  }

  /** Claims the sources that no live daemon has, and returns their ids. */
  async claimAbandoned(): Promise<Set<string>> {
    const { leases } = this.#cluster
    const { term } = leases
    const sources = (await leases.claimAbandoned(listSourceLeases(formatSyncLease('')))).map(getSourceId)
    if (term !== undefined) for (const sourceId of sources) this.#held.set(sourceId, term)
    return new Set(sources)
  }

  async forget(sourceId: string): Promise<void> {
    this.#held.delete(sourceId)
    await this.#cluster.leases.remove(formatSyncLease(sourceId))
  }

  /** Returns undefined if no other daemon syncs the source. */
  async readState(reader: DatabaseReader, sourceId: string): Promise<SyncState | undefined> {
    return this.#cluster.states.read<SyncState>(reader, formatSyncLease(sourceId))
  }

  /** Tells the other daemons about the sync now instead of soon. */
  async storeState(sourceId: string): Promise<void> {
    await this.#cluster.states.store(formatSyncLease(sourceId))
  }

  /** Waits for a sync of another daemon: for its end, or until full-text search covers all documents. */
  async waitUntilIdle(sourceId: string, isTextEnough = false): Promise<void> {
    for (;;) {
      const state = await this.readState(this.#database, sourceId)
      if (!state?.progress || (isTextEnough && ['embedding', 'recognizing'].includes(state.progress.stage))) return
      await pause(POLL_INTERVAL_MS)
    }
  }
}

const getSourceId = (lease: string): string => lease.slice(formatSyncLease('').length)
