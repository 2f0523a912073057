/** Synchronizations that nobody asks for: on a schedule, and when a watched folder changes. */
import { Cron } from 'croner'
import type { Logger } from '../../logging/logger.ts'
import type { Database } from '../../store/database.ts'
import { watchFolder } from '../sources/find-documents.ts'
import { type StoredSource, sourceRecords } from '../store.ts'
import { automaticSources } from './sync-store.ts'
import type { Synchronizer } from './synchronizer.ts'

interface Armed {
  disarm(): void
}

export class Automation {
  readonly #database: Database
  readonly #synchronizer: Synchronizer
  readonly #logger: Pick<Logger, 'warn'>
  readonly #armed = new Map<string, Armed[]>()

  constructor(database: Database, synchronizer: Synchronizer, logger: Pick<Logger, 'warn'>) {
    this.#database = database
    this.#synchronizer = synchronizer
    this.#logger = logger
  }

  async armAll(): Promise<void> {
    for (const id of await automaticSources(this.#database)) {
      const source = await sourceRecords.get(this.#database, id)
      if (!source) continue
      this.arm(source)
      // Nobody watched while the daemon was stopped.
      if ((source.configuration as { watch?: boolean }).watch && source.last_sync !== null) this.#sync(id)
    }
  }

  /** Takes up what a source's configuration says now, instead of what it said before. */
  arm(source: Pick<StoredSource, 'id' | 'type' | 'configuration'>): void {
    this.disarm(source.id)
    const { schedule, watch } = source.configuration as { schedule?: string; watch?: boolean }
    const armed: Armed[] = []
    const sync = () => this.#sync(source.id)
    if (schedule) {
      // One that is under way at the hour is the one that was due.
      const job = new Cron(schedule, { unref: true, protect: true }, () => {
        if (!this.#synchronizer.isRunning(source.id)) sync()
      })
      armed.push({ disarm: () => job.stop() })
    }
    if (watch && source.type === 'folder') {
      const watching = watchFolder(source.configuration, sync, (error: Error) =>
        this.#logger.warn({ source: source.id, err: error }, 'the folder cannot be watched'),
      )
      watching.ready.catch((error: unknown) => this.#logger.warn({ source: source.id, err: error }, 'the folder cannot be watched'))
      armed.push({ disarm: () => watching.close() })
    }
    if (armed.length > 0) this.#armed.set(source.id, armed)
  }

  disarm(sourceId: string): void {
    for (const armed of this.#armed.get(sourceId) ?? []) armed.disarm()
    this.#armed.delete(sourceId)
  }

  close(): void {
    for (const sourceId of [...this.#armed.keys()]) this.disarm(sourceId)
  }

  #sync(sourceId: string): void {
    this.#synchronizer
      .start(sourceId)
      .catch((error: unknown) => this.#logger.warn({ source: sourceId, err: error }, 'the synchronization could not be started'))
  }
}
