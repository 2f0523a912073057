/** Synchronization: one at a time a source, in the background, taken up again after a stop or a kill. */
import { rm } from 'node:fs/promises'
import type { FastifyBaseLogger } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import type { Database } from '../store/database.ts'
import { type Discovery, discover } from './discovery.ts'
import type { IndexWriter } from './index-writing.ts'
import type { Index, Indexes } from './indexes.ts'
import type { ProgressBoard } from './progress.ts'
import { sourceRecords } from './store.ts'
import { interruptedSources, markSource } from './sync-store.ts'
import { readTexts, type TextStage } from './text-stage.ts'
import { embedPassages, type VectorStage } from './vector-stage.ts'

/** `all` looks at where documents come from; `indexes` only brings the indexes up to date with the documents there are. */
type Extent = 'all' | 'indexes'

interface Run {
  extent: Extent
  controller: AbortController
  finished: Promise<void>
  /** Asked for again meanwhile: once more, however often it was asked. */
  again: Extent | undefined
}

export interface SyncParts extends Discovery, TextStage, VectorStage {
  indexes: Indexes
  writer: IndexWriter
  progress: ProgressBoard
  database: Database
  logger: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
}

export class Synchronizer {
  readonly #parts: SyncParts
  readonly #runs = new Map<string, Run>()
  #closing = false

  constructor(parts: SyncParts) {
    this.#parts = parts
  }

  /** Starts a synchronization, or makes sure that the one under way is followed by another. Returns once the status says so. */
  async start(sourceId: string, extent: Extent = 'all'): Promise<void> {
    if (this.#closing) throw new CadreError('UNAVAILABLE', 'The daemon is stopping.')
    const run = this.#runs.get(sourceId)
    if (run) {
      run.again = run.again === 'all' ? 'all' : extent
      return
    }
    const controller = new AbortController()
    const announced = extent === 'all' ? markSource(this.#parts.database, sourceId, 'syncing') : Promise.resolve()
    const next: Run = { extent, controller, again: undefined, finished: Promise.resolve() }
    this.#runs.set(sourceId, next)
    next.finished = announced.then(() => this.#run(sourceId, next)).finally(() => this.#ended(sourceId, next))
    next.finished.catch(() => undefined) // #run tells the log and the source
    await announced
  }

  /** Stops a synchronization; what it has done stays. */
  async cancel(sourceId: string): Promise<boolean> {
    const run = this.#runs.get(sourceId)
    if (!run) return false
    run.again = undefined
    run.controller.abort(new CadreError('CONFLICT', 'The synchronization was cancelled.'))
    await run.finished.catch(() => undefined)
    return true
  }

  /** Ends what is under way for a source that is no more, and removes its clone. */
  async forget(sourceId: string): Promise<void> {
    await this.cancel(sourceId)
    await rm(this.#parts.workDirectory(sourceId), { recursive: true, force: true })
  }

  /** Resolves when nothing is under way for the source. */
  async idle(sourceId: string): Promise<void> {
    for (let run = this.#runs.get(sourceId); run; run = this.#runs.get(sourceId)) await run.finished.catch(() => undefined)
  }

  get running(): number {
    return this.#runs.size
  }

  /** Mends what a kill left half done, and goes on where it stopped. */
  async resume(): Promise<void> {
    const { database, indexes, writer } = this.#parts
    await indexes.sweep(database)
    const interrupted = new Set(await interruptedSources(database))
    for (const index of await database.all<Index>('SELECT * FROM indexes')) {
      await writer.repair(index)
      const now = await database.get<{ ready: number }>('SELECT ready FROM indexes WHERE id = ?', [index.id])
      if (now?.ready === 0 && !interrupted.has(index.knowledge_source_id)) await this.start(index.knowledge_source_id, 'indexes')
    }
    for (const sourceId of interrupted) await this.start(sourceId)
  }

  async close(): Promise<void> {
    this.#closing = true
    for (const run of this.#runs.values()) run.controller.abort(new CadreError('UNAVAILABLE', 'The daemon is stopping.'))
    await Promise.allSettled([...this.#runs.values()].map(({ finished }) => finished))
  }

  async #run(sourceId: string, { extent, controller: { signal } }: Run): Promise<void> {
    const { database, progress, logger } = this.#parts
    const began = Date.now()
    progress.begin(sourceId)
    try {
      const source = await sourceRecords.get(database, sourceId)
      if (!source) return
      if (extent === 'all') await discover(this.#parts, source, signal)
      const indexes = await this.#parts.indexes.settle(database, sourceId)
      await readTexts(this.#parts, sourceId, indexes, signal)
      await embedPassages(this.#parts, sourceId, indexes, signal)
      await this.#parts.indexes.settle(database, sourceId)
      if (extent === 'all') await markSource(database, sourceId, 'active')
      logger.info({ source: sourceId, ms: Date.now() - began }, 'synchronized')
    } catch (error) {
      if (!this.#closing) await this.#failed(sourceId, extent, signal.aborted, error)
      throw error
    } finally {
      progress.end(sourceId)
    }
  }

  async #failed(sourceId: string, extent: Extent, cancelled: boolean, error: unknown): Promise<void> {
    const { database, logger } = this.#parts
    if (cancelled) {
      const source = await sourceRecords.get(database, sourceId)
      if (source?.status === 'syncing') await markSource(database, sourceId, 'pending')
      return
    }
    const known = error instanceof CadreError
    logger[known ? 'warn' : 'error']({ source: sourceId, err: error }, 'the synchronization failed')
    const why = known ? error.message : 'Something went wrong inside Cadre; the log has the details (cadre daemon logs).'
    if (extent === 'all' || !known) await markSource(database, sourceId, 'error', why)
  }

  #ended(sourceId: string, run: Run): void {
    this.#runs.delete(sourceId)
    if (run.again && !this.#closing)
      this.start(sourceId, run.again).catch((error: unknown) =>
        this.#parts.logger.error({ source: sourceId, err: error }, 'the synchronization could not be started again'),
      )
  }
}
