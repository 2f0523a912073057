/** Repairs indexes after a kill. */
import type { Logger } from '../../../logging/logger.ts'
import type { Database } from '../../../store/database.ts'
import type { IndexRegistry } from '../../passage-indexes/index-registry.ts'
import { isCurrentIndex, listAllIndexes } from '../../passage-indexes/index-store.ts'
import type { IndexWriter } from '../index-writer.ts'
import { listIncompleteSources } from '../sync-store.ts'

interface IndexRepairDependencies {
  database: Database
  indexes: IndexRegistry
  writer: IndexWriter
  logger: Logger
}

export class IndexRepair {
  readonly #dependencies: IndexRepairDependencies
  #finished: Promise<unknown> = Promise.resolve()

  constructor(dependencies: IndexRepairDependencies) {
    this.#dependencies = dependencies
  }

  /** Before the repair has ended, an index may hold less than its records say. */
  async waitUntilFinished(): Promise<void> {
    await this.#finished
  }

  /** Returns the sources whose indexes are incomplete, are of another version, or need a vector index. */
  run(sourceIds: ReadonlySet<string>): Promise<Set<string>> {
    const incomplete = this.#repair(sourceIds)
    this.#finished = incomplete
    return incomplete
  }

  async #repair(sourceIds: ReadonlySet<string>): Promise<Set<string>> {
    const { database, indexes, writer, logger } = this.#dependencies
    await indexes.sweep(database).catch((error: unknown) => logger.error({ err: error }, 'cannot remove old tables'))
    const incomplete = new Set((await listIncompleteSources(database)).filter((sourceId) => sourceIds.has(sourceId)))
    for (const index of await listAllIndexes(database)) {
      const source = index.knowledge_source_id
      if (!sourceIds.has(source)) continue
      try {
        const isOutdated = !isCurrentIndex(index)
        if (isOutdated) logger.info({ index: index.id, source }, 'rebuilding an index of an older version')
        // Checking the tables would load LanceDB, which takes a third of the memory of an idle daemon.
        if (indexes.areUnchanged && index.batch === null && index.ready === 1 && !isOutdated) continue
        const isComplete = (await writer.repair(index)) && index.ready === 1 && !isOutdated
        if (!isComplete || (await indexes.getVectorTable(index).needsVectorIndex())) incomplete.add(source)
      } catch (error) {
        logger.error({ index: index.id, source, err: error }, 'cannot check an index')
      }
    }
    return incomplete
  }
}
