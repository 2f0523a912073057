/** Synchronizations that nobody asks for: on a schedule, and when a watched folder changes. */
import { Cron } from 'croner'
import type { Logger } from '../../logging/logger.ts'
import type { Database } from '../../store/database.ts'
import { watchFolder } from '../sources/find-documents.ts'
import { type StoredSource, sourceRecords } from '../store.ts'
import { listAutomaticSources } from './sync-store.ts'
import type { Synchronizer } from './synchronizer.ts'

interface Trigger {
  stop(): void
}

export class SyncTriggers {
  readonly #database: Database
  readonly #synchronizer: Synchronizer
  readonly #logger: Pick<Logger, 'warn'>
  readonly #triggers = new Map<string, Trigger[]>()

  constructor(database: Database, synchronizer: Synchronizer, logger: Pick<Logger, 'warn'>) {
    this.#database = database
    this.#synchronizer = synchronizer
    this.#logger = logger
  }

  async registerAll(): Promise<void> {
    for (const id of await listAutomaticSources(this.#database)) {
      const source = await sourceRecords.get(this.#database, id)
      if (!source) continue
      this.register(source)
      // Nobody watched while the daemon was stopped.
      if ((source.configuration as { watch?: boolean }).watch && source.last_sync !== null) this.#sync(id)
    }
  }

  /** Takes up what a source's configuration says now, instead of what it said before. */
  register(source: Pick<StoredSource, 'id' | 'type' | 'configuration'>): void {
    this.disarm(source.id)
    const { schedule, watch } = source.configuration as { schedule?: string; watch?: boolean }
    const armed: Trigger[] = []
    const sync = () => this.#sync(source.id)
    if (schedule) {
      // One that is under way at the hour is the one that was due.
      const job = new Cron(schedule, { unref: true, protect: true }, () => {
        if (!this.#synchronizer.isRunning(source.id)) sync()
      })
      armed.push({ stop: () => job.stop() })
    }
    if (watch && source.type === 'folder') {
      const watching = watchFolder(source.configuration, sync, (error: Error) =>
        this.#logger.warn({ source: source.id, err: error }, 'the folder cannot be watched'),
      )
      watching.ready.catch((error: unknown) => this.#logger.warn({ source: source.id, err: error }, 'the folder cannot be watched'))
      armed.push({ stop: () => watching.close() })
    }
    if (armed.length > 0) this.#triggers.set(source.id, armed)
  }

  disarm(sourceId: string): void {
    for (const armed of this.#triggers.get(sourceId) ?? []) armed.stop()
    this.#triggers.delete(sourceId)
  }

  close(): void {
    for (const sourceId of [...this.#triggers.keys()]) this.disarm(sourceId)
  }

  #sync(sourceId: string): void {
    this.#synchronizer
      .start(sourceId)
      .catch((error: unknown) => this.#logger.warn({ source: sourceId, err: error }, 'the synchronization could not be started'))
  }
}
