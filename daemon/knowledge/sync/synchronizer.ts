/** Runs syncs in the background, one at a time for each source. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CadreError } from '../../../src/contract/errors.ts'
import { createDeferred } from '../../async/deferred.ts'
import { repeatWhileUnavailable } from '../../async/repeat-while-unavailable.ts'
import type { Logger } from '../../logging/logger.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { type RecognitionDependencies, recognizeDocuments } from '../recognition/recognize-documents.ts'
import { sourceRecords } from '../store.ts'
import type { SourceTables } from '../tables/source-tables.ts'
import { type EmbedDependencies, embedPassages } from './embed-passages.ts'
import { LeaseLostError } from './index-fence.ts'
import { type ParseDependencies, parseDocuments } from './parse-documents.ts'
import type { IndexRepair } from './recovery/index-repair.ts'
import type { SyncResumes } from './recovery/sync-resumes.ts'
import type { SyncLeases } from './sync-leases.ts'
import { markCancelled, markSynced, markSyncing, resetParsing, setSourceError } from './sync-store.ts'
import { type UpdateDependencies, updateDocuments } from './update-documents.ts'

/** `all` reads the source again; `indexes` only updates the indexes from the stored documents. */
export type SyncScope = 'all' | 'indexes'

interface SyncRun {
  scope: SyncScope
  controller: AbortController
  finished: Promise<void>
  /** Resolves when full-text search covers all documents, or when the run ends. */
  textReady: Promise<void>
  /** Scope of the next pass, if one was requested during this one. */
  queued: SyncScope | undefined
  /** Ends text recognition, which may take hours, when another pass is requested. */
  endRecognition: () => void
}

interface SynchronizerDependencies extends UpdateDependencies, ParseDependencies, EmbedDependencies, RecognitionDependencies {
  logger: Logger
  syncLeases: SyncLeases
  resumes: SyncResumes
  repair: IndexRepair
  tables: SourceTables
  telemetry: Telemetry
}

export class Synchronizer {
  readonly #dependencies: SynchronizerDependencies
  readonly #runs = new Map<string, SyncRun>()
  #closing = false

  constructor(dependencies: SynchronizerDependencies) {
    this.#dependencies = dependencies
    dependencies.syncLeases.onLost = (sourceId) => this.#abortLost(sourceId)
    dependencies.telemetry.addQueue('syncs', () => this.#runs.size)
  }

  /** Starts a sync, or queues another pass if one is running. Resolves when the status is stored. */
  async start(sourceId: string, scope: SyncScope = 'all'): Promise<void> {
    if (this.#closing) throw new CadreError('UNAVAILABLE', 'The daemon is stopping.')
    if (!this.#runs.has(sourceId) && (await this.#dependencies.syncLeases.delegate(sourceId, 'start', scope))) return
    // Also set during a run: its final status write either precedes this one or sees the queued pass.
    const statusStored = scope === 'all' ? this.#storeStart(sourceId) : Promise.resolve()
    const run = this.#runs.get(sourceId)
    if (run) {
      run.queued = run.queued === 'all' ? 'all' : scope
      run.endRecognition()
    } else this.#begin(sourceId, scope, statusStored)
    await statusStored
  }

  /** Starts a sync for a schedule or a watched folder, unless the source is parked. */
  async startAutomatically(sourceId: string): Promise<void> {
    if (!this.#dependencies.resumes.isParked(sourceId)) await this.start(sourceId)
  }

  #storeStart(sourceId: string): Promise<void> {
    const { database, resumes } = this.#dependencies
    return database.write(async (transaction) => {
      await resumes.reset(transaction, sourceId)
      await markSyncing(transaction, sourceId)
    })
  }

  #begin(sourceId: string, scope: SyncScope, statusStored: Promise<void>): void {
    const { promise: textReady, resolve: onTextReady } = createDeferred<void>()
    const run: SyncRun = {
      scope,
      controller: new AbortController(),
      queued: undefined,
      textReady,
      finished: Promise.resolve(),
      endRecognition: () => {},
    }
    this.#runs.set(sourceId, run)
    const { progress } = this.#dependencies
    // An index update after a sync adds to the changes of that sync.
    if (scope === 'all') progress.resetChanges(sourceId)
    // Set before the status is stored, so that a client that reads the status can follow the progress.
    progress.begin(sourceId)
    run.finished = statusStored
      .then(() => this.#run(sourceId, run, onTextReady))
      .finally(() => this.#dependencies.resumes.end(sourceId))
      .finally(() => {
        onTextReady()
        this.#finish(sourceId, run)
      })
    run.finished.catch(() => undefined) // #run logs and stores the error
  }

  /** Stops a sync and keeps its completed work. Returns false if none is running. */
  async cancel(sourceId: string): Promise<boolean> {
    const run = this.#runs.get(sourceId)
    if (!run) return (await this.#dependencies.syncLeases.send<boolean>(sourceId, 'cancel')) ?? false
    run.queued = undefined
    run.controller.abort(new CadreError('CONFLICT', 'The sync was cancelled.'))
    await run.finished.catch(() => undefined)
    // A start just before may have stored the status `syncing` for a pass that no longer comes.
    if (!this.#runs.has(sourceId)) await markCancelled(this.#dependencies.database, sourceId)
    return true
  }

  /** Ends the sync of a deleted source and removes its work directory. */
  async forgetSource(sourceId: string): Promise<void> {
    const { syncLeases, resumes, progress, tables, workDirectory } = this.#dependencies
    await syncLeases.send(sourceId, 'forget')
    await this.cancel(sourceId)
    await syncLeases.forget(sourceId)
    await resumes.remove(sourceId)
    progress.forgetChanges(sourceId)
    tables.forget(sourceId)
    await rm(join(workDirectory, sourceId), { recursive: true, force: true })
  }

  async waitUntilIdle(sourceId: string): Promise<void> {
    for (let run = this.#runs.get(sourceId); run; run = this.#runs.get(sourceId)) await run.finished.catch(() => undefined)
    await this.#dependencies.syncLeases.waitUntilIdle(sourceId)
  }

  async waitUntilTextReady(sourceId: string): Promise<void> {
    const run = this.#runs.get(sourceId)
    await (run ? run.textReady : this.#dependencies.syncLeases.waitUntilIdle(sourceId, true))
  }

  get isClosing(): boolean {
    return this.#closing
  }

  isRunning(sourceId: string): boolean {
    return this.#runs.has(sourceId)
  }

  #abortLost(sourceId: string): void {
    const run = this.#runs.get(sourceId)
    if (run) run.queued = undefined
    run?.controller.abort(new LeaseLostError())
  }

  async close(): Promise<void> {
    this.#closing = true
    for (const run of this.#runs.values()) run.controller.abort(new CadreError('UNAVAILABLE', 'The daemon is stopping.'))
    await Promise.allSettled([...this.#runs.values()].map(({ finished }) => finished))
  }

  async #run(sourceId: string, run: SyncRun, onTextReady: () => void): Promise<void> {
    const { logger, progress, telemetry } = this.#dependencies
    const onOutage = (err: CadreError) => logger.warn({ source: sourceId, err }, 'sync interrupted; it continues after the outage')
    try {
      for (let scope: SyncScope | undefined = run.scope; scope !== undefined; ) {
        run.scope = scope
        const options = { labels: [scope], attributes: { 'cadre.source.id': sourceId }, isRoot: true, signal: run.controller.signal }
        const runPass = () => telemetry.measure('sync', options, () => this.#runPass(sourceId, run, onTextReady))
        await repeatWhileUnavailable(runPass, options.signal, onOutage)
        options.signal.throwIfAborted()
        ;[scope, run.queued] = [run.queued, undefined]
        if (scope) progress.begin(sourceId)
      }
    } catch (error) {
      const reasons = [error, run.controller.signal.reason]
      if (!this.#closing && !reasons.some((reason) => reason instanceof LeaseLostError)) await this.#recordFailure(sourceId, run, error)
      throw error
    }
  }

  async #runPass(sourceId: string, run: SyncRun, onTextReady: () => void): Promise<void> {
    const { database, repair, logger } = this.#dependencies
    const { signal } = run.controller
    const startedAt = Date.now()
    await repair.waitUntilFinished()
    const source = await sourceRecords.get(database, sourceId)
    if (!source) return
    if (run.scope === 'all') await updateDocuments(this.#dependencies, source, signal)
    const indexes = await this.#dependencies.indexes.reconcile(database, sourceId)
    const index = async () => {
      await parseDocuments(this.#dependencies, source, indexes, signal)
      onTextReady()
      await this.#dependencies.tables.updateAfterSync(sourceId, signal)
      await embedPassages(this.#dependencies, sourceId, indexes, signal)
    }
    await index()
    await this.#dependencies.indexes.reconcile(database, sourceId)
    if (run.scope === 'all') await markSynced(database, sourceId, run.queued === 'all' ? 'syncing' : 'active')
    await this.#recognize(sourceId, run, index)
    logger.info({ source: sourceId, ms: Date.now() - startedAt }, 'sync completed')
  }

  /** Everything else was indexed. Ends when another pass is requested, which continues it. */
  async #recognize(sourceId: string, run: SyncRun, index: () => Promise<void>): Promise<void> {
    const interruption = new AbortController()
    run.endRecognition = () => interruption.abort()
    const { signal } = run.controller
    while (!run.queued && (await recognizeDocuments(this.#dependencies, sourceId, AbortSignal.any([signal, interruption.signal])))) {
      signal.throwIfAborted()
      await index()
    }
  }

  async #recordFailure(sourceId: string, { scope, controller }: SyncRun, error: unknown): Promise<void> {
    const { database, logger } = this.#dependencies
    if (controller.signal.aborted) return markCancelled(database, sourceId)
    await database.write((transaction) => resetParsing(transaction, sourceId))
    const isExpected = error instanceof CadreError
    logger[isExpected ? 'warn' : 'error']({ source: sourceId, err: error }, 'sync failed')
    // The hint says who can allow a blocked address.
    const hint = isExpected && error.code === 'ADDRESS_BLOCKED' && error.hint !== undefined ? ` ${error.hint}` : ''
    const reason = isExpected ? error.message + hint : 'An internal error occurred; see the log (cadre daemon logs).'
    if (scope === 'all' || !isExpected) await setSourceError(database, sourceId, reason)
  }

  #finish(sourceId: string, run: SyncRun): void {
    this.#dependencies.progress.end(sourceId)
    this.#runs.delete(sourceId)
    if (run.queued && !this.#closing)
      this.start(sourceId, run.queued).catch((error: unknown) =>
        this.#dependencies.logger.error({ source: sourceId, err: error }, 'cannot start the queued sync'),
      )
  }
}
