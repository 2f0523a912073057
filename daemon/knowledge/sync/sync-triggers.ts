/** Starts syncs on a schedule and when a watched folder changes. */
import { Cron } from 'croner'
import type { Logger } from '../../logging/logger.ts'
import type { Database } from '../../store/database.ts'
import { FolderMonitor } from '../sources/files/folder-monitor.ts'
import { WatchBudget } from '../sources/files/watch-budget.ts'
import { type StoredSource, sourceRecords } from '../store.ts'
import { SyncPacer } from './sync-pacer.ts'
import { listAutomaticSources } from './sync-store.ts'
import type { Synchronizer } from './synchronizer.ts'

interface TriggerConfiguration {
  schedule?: string
  watch?: boolean
}

export class SyncTriggers {
  readonly #database: Database
  readonly #synchronizer: Synchronizer
  readonly #logger: Logger
  /** Functions that stop the triggers of a source. */
  readonly #stops = new Map<string, (() => void)[]>()
  readonly #monitors = new Map<string, FolderMonitor>()
  readonly #watchBudget = new WatchBudget()

  constructor(database: Database, synchronizer: Synchronizer, logger: Logger) {
    this.#database = database
    this.#synchronizer = synchronizer
    this.#logger = logger
  }

  /** Registers the triggers of sources that this daemon has taken over. */
  async registerAll(sources: ReadonlySet<string>): Promise<void> {
    if (sources.size === 0) return
    for (const id of await listAutomaticSources(this.#database)) {
      if (!sources.has(id)) continue
      const source = await sourceRecords.get(this.#database, id)
      if (!source) continue
      this.register(source)
      // The folder may have changed while the daemon was stopped.
      if ((source.configuration as TriggerConfiguration).watch && source.last_sync !== null) void this.#sync(id)
    }
  }

  /** Replaces the triggers of a source with those of its current configuration. */
  register(source: Pick<StoredSource, 'id' | 'type' | 'configuration'>): void {
    this.unregister(source.id)
    const { schedule, watch } = source.configuration as TriggerConfiguration
    const stops: (() => void)[] = []
    if (schedule) {
      const job = new Cron(schedule, { unref: true, protect: true }, () => {
        if (!this.#synchronizer.isRunning(source.id)) void this.#sync(source.id)
      })
      stops.push(() => job.stop())
    }
    if (watch && source.type === 'folder') stops.push(this.#watch(source))
    if (stops.length > 0) this.#stops.set(source.id, stops)
  }

  /** Returns null if this daemon does not watch the folder of the source. */
  getWatchState(sourceId: string): FolderMonitor['state'] | null {
    return this.#monitors.get(sourceId)?.state ?? null
  }

  unregister(sourceId: string): void {
    for (const stop of this.#stops.get(sourceId) ?? []) stop()
    this.#stops.delete(sourceId)
  }

  close(): void {
    for (const sourceId of [...this.#stops.keys()]) this.unregister(sourceId)
  }

  /** Returns a function that ends the watch. */
  #watch({ id, configuration }: Pick<StoredSource, 'id' | 'configuration'>): () => void {
    const onPolling = (error: unknown) => this.#logger.warn({ source: id, err: error }, 'cannot watch the folder; changes are polled')
    const pacer = new SyncPacer(async () => {
      await this.#sync(id)
      await this.#synchronizer.waitUntilIdle(id).catch(() => undefined) // only the pause depends on it
    })
    const monitor = new FolderMonitor({ configuration, budget: this.#watchBudget, onChange: () => pacer.request(), onPolling })
    this.#monitors.set(id, monitor)
    monitor.start().catch(onPolling) // a glob of an earlier version
    return () => {
      pacer.close()
      monitor.close()
      this.#monitors.delete(id)
    }
  }

  async #sync(sourceId: string): Promise<void> {
    try {
      await this.#synchronizer.startAutomatically(sourceId)
    } catch (error) {
      this.#logger.warn({ source: sourceId, err: error }, 'cannot start the sync')
    }
  }
}
