/** Synchronization: one at a time a source, in the background, taken up again after a stop or a kill. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CadreError } from '../../../src/contract/errors.ts'
import type { Logger } from '../../logging/logger.ts'
import type { Database } from '../../store/database.ts'
import { allIndexes } from '../indexes/index-store.ts'
import type { Indexes } from '../indexes/indexes.ts'
import { sourceExists, sourceRecords } from '../store.ts'
import { type Discovery, discover } from './discover-documents.ts'
import type { IndexWriter } from './index-writer.ts'
import type { ProgressBoard } from './progress.ts'
import { halfDone, interruptedSources, markCancelled, markSource, markSynced, unmarkParsing } from './sync-store.ts'
import { readTexts, type TextStage } from './text-stage.ts'
import { embedPassages, type VectorStage } from './vector-stage.ts'

/** `all` looks at where documents come from; `indexes` only brings the indexes up to date with the documents there are. */
type Extent = 'all' | 'indexes'

interface Run {
  extent: Extent
  controller: AbortController
  finished: Promise<void>
  /** Fulfilled once the texts can be searched by words, or there will be no more of them. */
  read: Promise<void>
  /** Asked for again meanwhile: once more, however often it was asked. */
  again: Extent | undefined
}

export interface SyncParts extends Discovery, TextStage, VectorStage {
  indexes: Indexes
  writer: IndexWriter
  progress: ProgressBoard
  database: Database
  logger: Logger
}

export class Synchronizer {
  readonly #parts: SyncParts
  readonly #runs = new Map<string, Run>()
  #mended: Promise<void> = Promise.resolve()
  #closing = false

  constructor(parts: SyncParts) {
    this.#parts = parts
  }

  /** Starts a synchronization, or makes sure that the one under way is followed by another. Returns once the status says so. */
  async start(sourceId: string, extent: Extent = 'all'): Promise<void> {
    if (this.#closing) throw new CadreError('UNAVAILABLE', 'The daemon is stopping.')
    // Also while one is under way: what that one writes at its end is written before this, or knows of it.
    const announced = extent === 'all' ? markSource(this.#parts.database, sourceId, 'syncing') : Promise.resolve()
    const run = this.#runs.get(sourceId)
    if (run) run.again = run.again === 'all' ? 'all' : extent
    else this.#begin(sourceId, extent, announced)
    await announced
  }

  #begin(sourceId: string, extent: Extent, announced: Promise<void>): void {
    let textsRead = () => {}
    const read = new Promise<void>((resolve) => {
      textsRead = resolve
    })
    const run: Run = { extent, controller: new AbortController(), again: undefined, read, finished: Promise.resolve() }
    this.#runs.set(sourceId, run)
    // Indexes that are brought up to date after a synchronization are counted with it.
    if (extent === 'all') this.#parts.progress.recount(sourceId)
    // Before anybody can read that it is under way.
    this.#parts.progress.begin(sourceId)
    run.finished = announced
      .then(() => this.#run(sourceId, run, textsRead))
      .finally(() => {
        textsRead()
        this.#ended(sourceId, run)
      })
    run.finished.catch(() => undefined) // #run tells the log and the source
  }

  /** Stops a synchronization; what it has done stays. */
  async cancel(sourceId: string): Promise<boolean> {
    const run = this.#runs.get(sourceId)
    if (!run) return false
    run.again = undefined
    run.controller.abort(new CadreError('CONFLICT', 'The synchronization was cancelled.'))
    await run.finished.catch(() => undefined)
    // Asked for once more just before, it says that it is under way, and is not.
    if (!this.#runs.has(sourceId)) await markCancelled(this.#parts.database, sourceId)
    return true
  }

  /** Ends what is under way for a source that is no more, and removes its clone. */
  async forget(sourceId: string): Promise<void> {
    await this.cancel(sourceId)
    this.#parts.progress.forget(sourceId)
    await rm(join(this.#parts.work, sourceId), { recursive: true, force: true })
  }

  /** Resolves when nothing is under way for the source. */
  async idle(sourceId: string): Promise<void> {
    for (let run = this.#runs.get(sourceId); run; run = this.#runs.get(sourceId)) await run.finished.catch(() => undefined)
  }

  /** Resolves when the texts of what is under way can be searched by words. */
  async read(sourceId: string): Promise<void> {
    await this.#runs.get(sourceId)?.read
  }

  /** Resolves when what a kill or a damaged disk left has been looked at: before that, an index may hold less than it says. */
  async mended(): Promise<void> {
    await this.#mended
  }

  isRunning(sourceId: string): boolean {
    return this.#runs.has(sourceId)
  }

  /** Mends what a kill left half done, and goes on where it stopped. */
  async resume(): Promise<void> {
    const { database } = this.#parts
    const interrupted = new Set(await interruptedSources(database))
    const incomplete = this.#mend()
    this.#mended = incomplete.then(() => undefined)
    // These begin once that is done; that they are under way is said already.
    await Promise.all([...interrupted].map((sourceId) => this.start(sourceId)))
    for (const sourceId of await incomplete) if (!interrupted.has(sourceId)) await this.start(sourceId, 'indexes')
  }

  /** Sources with something left half done, or an index that lacks something it once had. */
  async #mend(): Promise<Set<string>> {
    const { database, indexes, writer, logger } = this.#parts
    await indexes.sweep(database).catch((error: unknown) => logger.error({ err: error }, 'old tables could not be removed'))
    await this.#sweepWork().catch((error: unknown) => logger.error({ err: error }, 'old clones could not be removed'))
    const incomplete = new Set(await halfDone(database))
    for (const index of await allIndexes(database)) {
      try {
        if (!(await writer.repair(index)) || index.ready === 0) incomplete.add(index.knowledge_source_id)
      } catch (error) {
        logger.error({ index: index.id, source: index.knowledge_source_id, err: error }, 'an index could not be looked at')
      }
    }
    return incomplete
  }

  /** Clones and pages of sources that were deleted just before a kill. */
  async #sweepWork(): Promise<void> {
    const { database, work } = this.#parts
    for (const sourceId of await readdir(work)) {
      if (!(await sourceExists(database, sourceId))) await rm(join(work, sourceId), { recursive: true, force: true })
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    for (const run of this.#runs.values()) run.controller.abort(new CadreError('UNAVAILABLE', 'The daemon is stopping.'))
    await Promise.allSettled([...this.#runs.values()].map(({ finished }) => finished))
  }

  async #run(sourceId: string, run: Run, textsRead: () => void): Promise<void> {
    try {
      for (let extent: Extent | undefined = run.extent; extent !== undefined; ) {
        run.extent = extent
        await this.#pass(sourceId, run, textsRead)
        run.controller.signal.throwIfAborted()
        extent = run.again
        run.again = undefined
        if (extent !== undefined) this.#parts.progress.begin(sourceId)
      }
    } catch (error) {
      if (!this.#closing) await this.#failed(sourceId, run.extent, run.controller.signal.aborted, error)
      throw error
    }
  }

  async #pass(sourceId: string, run: Run, textsRead: () => void): Promise<void> {
    const { database, logger } = this.#parts
    const { signal } = run.controller
    const began = Date.now()
    await this.#mended
    const source = await sourceRecords.get(database, sourceId)
    if (!source) return
    if (run.extent === 'all') await discover(this.#parts, source, signal)
    const indexes = await this.#parts.indexes.settle(database, sourceId)
    await readTexts(this.#parts, sourceId, indexes, signal)
    textsRead()
    await embedPassages(this.#parts, sourceId, indexes, signal)
    await this.#parts.indexes.settle(database, sourceId)
    if (run.extent === 'all') await markSynced(database, sourceId, run.again === 'all' ? 'syncing' : 'active')
    logger.info({ source: sourceId, ms: Date.now() - began }, 'synchronized')
  }

  async #failed(sourceId: string, extent: Extent, cancelled: boolean, error: unknown): Promise<void> {
    const { database, logger } = this.#parts
    if (cancelled) return markCancelled(database, sourceId)
    await database.write((transaction) => unmarkParsing(transaction, sourceId))
    const known = error instanceof CadreError
    logger[known ? 'warn' : 'error']({ source: sourceId, err: error }, 'the synchronization failed')
    // What is refused looks final; the hint says who can allow it.
    const hint = known && error.code === 'ADDRESS_BLOCKED' && error.hint !== undefined ? ` ${error.hint}` : ''
    const why = known ? error.message + hint : 'Something went wrong inside Cadre; the log has the details (cadre daemon logs).'
    if (extent === 'all' || !known) await markSource(database, sourceId, 'error', why)
  }

  #ended(sourceId: string, run: Run): void {
    this.#parts.progress.end(sourceId)
    this.#runs.delete(sourceId)
    if (run.again && !this.#closing)
      this.start(sourceId, run.again).catch((error: unknown) =>
        this.#parts.logger.error({ source: sourceId, err: error }, 'the synchronization could not be started again'),
      )
  }
}
