/** Starts syncs on a schedule and when a watched folder changes. */
import { Cron } from 'croner'
import type { Logger } from '../../logging/logger.ts'
import type { Database } from '../../store/database.ts'
import { FolderWatcher } from '../sources/files/folder-watcher.ts'
import { type StoredSource, sourceRecords } from '../store.ts'
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

  constructor(database: Database, synchronizer: Synchronizer, logger: Logger) {
    this.#database = database
    this.#synchronizer = synchronizer
    this.#logger = logger
  }

  /** `sources`: those of this daemon. Default: all. */
  async registerAll(sources?: ReadonlySet<string>): Promise<void> {
    if (sources?.size === 0) return
    for (const id of await listAutomaticSources(this.#database)) {
      if (sources && !sources.has(id)) continue
      const source = await sourceRecords.get(this.#database, id)
      if (!source) continue
      this.register(source)
      // The folder may have changed while the daemon was stopped.
      if ((source.configuration as TriggerConfiguration).watch && source.last_sync !== null) this.#sync(id)
    }
  }

  /** Replaces the triggers of a source with those of its current configuration. */
  register(source: Pick<StoredSource, 'id' | 'type' | 'configuration'>): void {
    this.unregister(source.id)
    const { schedule, watch } = source.configuration as TriggerConfiguration
    const stops: (() => void)[] = []
    if (schedule) {
      const job = new Cron(schedule, { unref: true, protect: true }, () => {
        if (!this.#synchronizer.isRunning(source.id)) this.#sync(source.id)
      })
      stops.push(() => job.stop())
    }
    if (watch && source.type === 'folder') {
      const warn = (error: unknown) => this.#logger.warn({ source: source.id, err: error }, 'cannot watch the folder')
      try {
        const watcher = new FolderWatcher(source.configuration, () => this.#sync(source.id), warn)
        void watcher.start()
        stops.push(() => watcher.close())
      } catch (error) {
        warn(error) // a glob of an earlier version
      }
    }
    if (stops.length > 0) this.#stops.set(source.id, stops)
  }

  unregister(sourceId: string): void {
    for (const stop of this.#stops.get(sourceId) ?? []) stop()
    this.#stops.delete(sourceId)
  }

  close(): void {
    for (const sourceId of [...this.#stops.keys()]) this.unregister(sourceId)
  }

  #sync(sourceId: string): void {
    this.#synchronizer
      .startAutomatically(sourceId)
      .catch((error: unknown) => this.#logger.warn({ source: sourceId, err: error }, 'cannot start the sync'))
  }
}
