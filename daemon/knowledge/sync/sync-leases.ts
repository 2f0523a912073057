/** Which daemon of a shared database syncs a source: the one that holds its lease. It keeps the lease, because it has the work files. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../logging/logger.ts'
import type { Database, Reader } from '../../store/database.ts'
import type { DaemonRequests } from '../../store/shared/daemon-requests.ts'
import { deleteLease, readLeaseState, storeLeaseState } from '../../store/shared/lease-state.ts'
import { claimLeases, findHolder, type Leases } from '../../store/shared/leases.ts'
import { formatSyncLease } from './index-fence.ts'
import type { Changes, Progress, ProgressTracker } from './progress-tracker.ts'
import { listSourceLeases } from './sync-store.ts'

const STORE_INTERVAL_MS = 300
const POLL_INTERVAL_MS = 500

export const SYNC_REQUESTS = { start: 'sync.start', cancel: 'sync.cancel', forget: 'sync.forget', configure: 'sync.configure' } as const

/** What other daemons know about a sync. */
interface SyncState {
  /** Null if no sync is running. */
  progress: Progress | null
  changes: Changes | undefined
}

interface SyncLeasesDependencies {
  database: Database
  leases: Leases
  requests: DaemonRequests
  progress: ProgressTracker
  logger: Logger
}

export class SyncLeases {
  readonly #dependencies: SyncLeasesDependencies
  /** The sources of this daemon, with the term of its leases in which they were claimed. */
  readonly #held = new Map<string, number>()
  /** Sources whose state has changed. */
  readonly #changed = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  /** Called if another daemon has taken over a source. */
  onLost: (sourceId: string) => void = () => {}

  constructor(dependencies: SyncLeasesDependencies) {
    this.#dependencies = dependencies
    dependencies.progress.onChange = (sourceId) => {
      this.#changed.add(sourceId)
      this.#schedule()
    }
  }

  /** Claims the source. If another daemon has it, sends the request there and returns true. */
  async delegate(sourceId: string, kind: keyof typeof SYNC_REQUESTS, data?: unknown): Promise<boolean> {
    const { leases } = this.#dependencies
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
    const { database, requests } = this.#dependencies
    const holder = await findHolder(database, formatSyncLease(sourceId))
    if (holder === undefined || holder === database.daemonId) return undefined
    return requests.send<T>(holder, SYNC_REQUESTS[kind], sourceId, data)
  }

  /** Claims the sources that no live daemon has, and returns their ids. */
  async claimAbandoned(): Promise<Set<string>> {
    const { database, leases } = this.#dependencies
    const { term } = leases
    const names = await claimLeases(database, listSourceLeases(formatSyncLease('')))
    const sources = names.map((name) => name.slice(formatSyncLease('').length))
    if (term !== undefined) for (const sourceId of sources) this.#held.set(sourceId, term)
    return new Set(sources)
  }

  async forget(sourceId: string): Promise<void> {
    this.#held.delete(sourceId)
    await deleteLease(this.#dependencies.database, formatSyncLease(sourceId))
  }

  /** Returns undefined if no other daemon syncs the source. */
  async readState(reader: Reader, sourceId: string): Promise<SyncState | undefined> {
    return readLeaseState<SyncState>(reader, formatSyncLease(sourceId), this.#dependencies.database)
  }

  /** Waits for a sync of another daemon: for its end, or until full-text search covers all documents. */
  async waitUntilIdle(sourceId: string, isTextEnough = false): Promise<void> {
    for (;;) {
      const state = await this.readState(this.#dependencies.database, sourceId)
      if (!state?.progress || (isTextEnough && state.progress.stage === 'embedding')) return
      await pause(POLL_INTERVAL_MS)
    }
  }

  async storeState(sourceId: string): Promise<void> {
    const { database, progress } = this.#dependencies
    const state: SyncState = { progress: progress.get(sourceId) ?? null, changes: progress.getChanges(sourceId) }
    if (await storeLeaseState(database, formatSyncLease(sourceId), state)) return
    this.#held.delete(sourceId)
    this.onLost(sourceId)
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#storeChanged(), STORE_INTERVAL_MS).unref()
  }

  async #storeChanged(): Promise<void> {
    const changed = [...this.#changed]
    this.#changed.clear()
    try {
      for (const sourceId of changed) await this.storeState(sourceId)
    } catch (error) {
      this.#dependencies.logger.warn({ err: error }, 'the progress of syncs could not be stored for other daemons')
    } finally {
      this.#timer = undefined
      if (this.#changed.size > 0) this.#schedule()
    }
  }
}
