/** Synchronization: one at a time a source, in the background, taken up again after a stop or a kill. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CadreError } from '../../../src/contract/errors.ts'
import type { Logger } from '../../logging/logger.ts'
import type { Database } from '../../store/database.ts'
import type { IndexRegistry } from '../indexes/index-registry.ts'
import { listAllIndexes } from '../indexes/index-store.ts'
import { sourceExists, sourceRecords } from '../store.ts'
import { type DiscoveryDependencies, discoverDocuments } from './discover-documents.ts'
import { type EmbedDependencies, embedPassages } from './embed-passages.ts'
import type { IndexWriter } from './index-writer.ts'
import { type ParseDependencies, parseDocuments } from './parse-documents.ts'
import type { ProgressTracker } from './progress-tracker.ts'
import { listIncompleteSources, listInterruptedSources, markCancelled, markSynced, resetParsing, setSourceStatus } from './sync-store.ts'

/** `all` looks at where documents come from; `indexes` only brings the indexes up to date with the documents there are. */
type SyncScope = 'all' | 'indexes'

interface SyncRun {
  scope: SyncScope
  controller: AbortController
  finished: Promise<void>
  /** Fulfilled once the texts can be searched by words, or there will be no more of them. */
  textReady: Promise<void>
  /** Asked for again meanwhile: once more, however often it was asked. */
  queued: SyncScope | undefined
}

export interface SynchronizerDependencies extends DiscoveryDependencies, ParseDependencies, EmbedDependencies {
  indexes: IndexRegistry
  writer: IndexWriter
  progress: ProgressTracker
  database: Database
  logger: Logger
}

export class Synchronizer {
  readonly #dependencies: SynchronizerDependencies
  readonly #runs = new Map<string, SyncRun>()
  #repaired: Promise<void> = Promise.resolve()
  #closing = false

  constructor(parts: SynchronizerDependencies) {
    this.#dependencies = parts
  }

  /** Starts a synchronization, or makes sure that the one under way is followed by another. Returns once the status says so. */
  async start(sourceId: string, extent: SyncScope = 'all'): Promise<void> {
    if (this.#closing) throw new CadreError('UNAVAILABLE', 'The daemon is stopping.')
    // Also while one is under way: what that one writes at its end is written before this, or knows of it.
    const announced = extent === 'all' ? setSourceStatus(this.#dependencies.database, sourceId, 'syncing') : Promise.resolve()
    const run = this.#runs.get(sourceId)
    if (run) run.queued = run.queued === 'all' ? 'all' : extent
    else this.#begin(sourceId, extent, announced)
    await announced
  }

  #begin(sourceId: string, extent: SyncScope, announced: Promise<void>): void {
    let textsRead = () => {}
    const waitUntilTextReady = new Promise<void>((resolve) => {
      textsRead = resolve
    })
    const run: SyncRun = {
      scope: extent,
      controller: new AbortController(),
      queued: undefined,
      textReady: waitUntilTextReady,
      finished: Promise.resolve(),
    }
    this.#runs.set(sourceId, run)
    // Indexes that are brought up to date after a synchronization are counted with it.
    if (extent === 'all') this.#dependencies.progress.resetChanges(sourceId)
    // Before anybody can read that it is under way.
    this.#dependencies.progress.begin(sourceId)
    run.finished = announced
      .then(() => this.#run(sourceId, run, textsRead))
      .finally(() => {
        textsRead()
        this.#finish(sourceId, run)
      })
    run.finished.catch(() => undefined) // #run tells the log and the source
  }

  /** Stops a synchronization; what it has done stays. */
  async cancel(sourceId: string): Promise<boolean> {
    const run = this.#runs.get(sourceId)
    if (!run) return false
    run.queued = undefined
    run.controller.abort(new CadreError('CONFLICT', 'The synchronization was cancelled.'))
    await run.finished.catch(() => undefined)
    // Asked for once more just before, it says that it is under way, and is not.
    if (!this.#runs.has(sourceId)) await markCancelled(this.#dependencies.database, sourceId)
    return true
  }

  /** Ends what is under way for a source that is no more, and removes its clone. */
  async forgetSource(sourceId: string): Promise<void> {
    await this.cancel(sourceId)
    this.#dependencies.progress.forgetChanges(sourceId)
    await rm(join(this.#dependencies.workDirectory, sourceId), { recursive: true, force: true })
  }

  /** Resolves when nothing is under way for the source. */
  async waitUntilIdle(sourceId: string): Promise<void> {
    for (let run = this.#runs.get(sourceId); run; run = this.#runs.get(sourceId)) await run.finished.catch(() => undefined)
  }

  /** Resolves when the texts of what is under way can be searched by words. */
  async read(sourceId: string): Promise<void> {
    await this.#runs.get(sourceId)?.textReady
  }

  /** Resolves when what a kill or a damaged disk left has been looked at: before that, an index may hold less than it says. */
  async mended(): Promise<void> {
    await this.#repaired
  }

  isRunning(sourceId: string): boolean {
    return this.#runs.has(sourceId)
  }

  /** Mends what a kill left half done, and goes on where it stopped. */
  async resume(): Promise<void> {
    const { database } = this.#dependencies
    const interrupted = new Set(await listInterruptedSources(database))
    const incomplete = this.#repair()
    this.#repaired = incomplete.then(() => undefined)
    // These begin once that is done; that they are under way is said already.
    await Promise.all([...interrupted].map((sourceId) => this.start(sourceId)))
    for (const sourceId of await incomplete) if (!interrupted.has(sourceId)) await this.start(sourceId, 'indexes')
  }

  /** Sources with something left half done, or an index that lacks something it once had. */
  async #repair(): Promise<Set<string>> {
    const { database, indexes, writer, logger } = this.#dependencies
    await indexes.sweep(database).catch((error: unknown) => logger.error({ err: error }, 'old tables could not be removed'))
    await this.#sweepWorkDirectories().catch((error: unknown) => logger.error({ err: error }, 'old clones could not be removed'))
    const incomplete = new Set(await listIncompleteSources(database))
    for (const index of await listAllIndexes(database)) {
      try {
        if (!(await writer.repair(index)) || index.ready === 0) incomplete.add(index.knowledge_source_id)
      } catch (error) {
        logger.error({ index: index.id, source: index.knowledge_source_id, err: error }, 'an index could not be looked at')
      }
    }
    return incomplete
  }

  /** Clones and pages of sources that were deleted just before a kill. */
  async #sweepWorkDirectories(): Promise<void> {
    const { database, workDirectory: work } = this.#dependencies
    for (const sourceId of await readdir(work)) {
      if (!(await sourceExists(database, sourceId))) await rm(join(work, sourceId), { recursive: true, force: true })
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    for (const run of this.#runs.values()) run.controller.abort(new CadreError('UNAVAILABLE', 'The daemon is stopping.'))
    await Promise.allSettled([...this.#runs.values()].map(({ finished }) => finished))
  }

  async #run(sourceId: string, run: SyncRun, textsRead: () => void): Promise<void> {
    try {
      for (let extent: SyncScope | undefined = run.scope; extent !== undefined; ) {
        run.scope = extent
        await this.#runPass(sourceId, run, textsRead)
        run.controller.signal.throwIfAborted()
        extent = run.queued
        run.queued = undefined
        if (extent !== undefined) this.#dependencies.progress.begin(sourceId)
      }
    } catch (error) {
      if (!this.#closing) await this.#recordFailure(sourceId, run.scope, run.controller.signal.aborted, error)
      throw error
    }
  }

  async #runPass(sourceId: string, run: SyncRun, textsRead: () => void): Promise<void> {
    const { database, logger } = this.#dependencies
    const { signal } = run.controller
    const began = Date.now()
    await this.#repaired
    const source = await sourceRecords.get(database, sourceId)
    if (!source) return
    if (run.scope === 'all') await discoverDocuments(this.#dependencies, source, signal)
    const indexes = await this.#dependencies.indexes.reconcile(database, sourceId)
    await parseDocuments(this.#dependencies, sourceId, indexes, signal)
    textsRead()
    await embedPassages(this.#dependencies, sourceId, indexes, signal)
    await this.#dependencies.indexes.reconcile(database, sourceId)
    if (run.scope === 'all') await markSynced(database, sourceId, run.queued === 'all' ? 'syncing' : 'active')
    logger.info({ source: sourceId, ms: Date.now() - began }, 'synchronized')
  }

  async #recordFailure(sourceId: string, extent: SyncScope, cancelled: boolean, error: unknown): Promise<void> {
    const { database, logger } = this.#dependencies
    if (cancelled) return markCancelled(database, sourceId)
    await database.write((transaction) => resetParsing(transaction, sourceId))
    const known = error instanceof CadreError
    logger[known ? 'warn' : 'error']({ source: sourceId, err: error }, 'the synchronization failed')
    // What is refused looks final; the hint says who can allow it.
    const hint = known && error.code === 'ADDRESS_BLOCKED' && error.hint !== undefined ? ` ${error.hint}` : ''
    const why = known ? error.message + hint : 'Something went wrong inside Cadre; the log has the details (cadre daemon logs).'
    if (extent === 'all' || !known) await setSourceStatus(database, sourceId, 'error', why)
  }

  #finish(sourceId: string, run: SyncRun): void {
    this.#dependencies.progress.end(sourceId)
    this.#runs.delete(sourceId)
    if (run.queued && !this.#closing)
      this.start(sourceId, run.queued).catch((error: unknown) =>
        this.#dependencies.logger.error({ source: sourceId, err: error }, 'the synchronization could not be started again'),
      )
  }
}
