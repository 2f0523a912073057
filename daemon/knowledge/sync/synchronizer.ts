/** Runs syncs in the background, one at a time for each source, and resumes them after a restart. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CadreError } from '../../../src/contract/errors.ts'
import { createDeferred } from '../../async/deferred.ts'
import { repeatWhileUnavailable } from '../../async/repeat-while-unavailable.ts'
import type { Logger } from '../../logging/logger.ts'
import { countResume, forgetResumes, listParkedJobs } from '../../store/job-resumes.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { CHUNKING_VERSION } from '../chunking/chunking-settings.ts'
import { listAllIndexes } from '../indexes/index-store.ts'
import { sourceExists, sourceRecords } from '../store.ts'
import { type DiscoveryDependencies, discoverDocuments } from './discover-documents.ts'
import { type EmbedDependencies, embedPassages } from './embed-passages.ts'
import { LeaseLostError } from './index-fence.ts'
import { type ParseDependencies, parseDocuments } from './parse-documents.ts'
import type { SyncLeases } from './sync-leases.ts'
import {
  listIncompleteSources,
  listInterruptedSources,
  markCancelled,
  markSynced,
  parkSources,
  resetParsing,
  setSourceStatus,
} from './sync-store.ts'

const PARKED_ERROR =
  'The daemon ended twice after it had resumed this sync, so it was not resumed again. A document or the configuration may be the cause; ' +
  'see the log (cadre daemon logs), then sync again (cadre knowledge sync).'

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
}

interface SynchronizerDependencies extends DiscoveryDependencies, ParseDependencies, EmbedDependencies {
  logger: Logger
  /** Only if several daemons share the database. */
  others: SyncLeases | undefined
  telemetry: Telemetry
}

export class Synchronizer {
  readonly #dependencies: SynchronizerDependencies
  readonly #runs = new Map<string, SyncRun>()
  /** Sources whose interrupted sync was resumed and has not ended. */
  readonly #resumed = new Set<string>()
  /** Sources whose sync was resumed too often. Only a user can start it again. */
  #parked = new Set<string>()
  #repaired: Promise<void> = Promise.resolve()
  #closing = false

  constructor(dependencies: SynchronizerDependencies) {
    this.#dependencies = dependencies
    if (dependencies.others) dependencies.others.onLost = (sourceId) => this.#abortLost(sourceId)
    dependencies.telemetry.addQueue('syncs', () => this.#runs.size)
  }

  /** Starts a sync, or queues another pass if one is running. Resolves when the status is stored. */
  async start(sourceId: string, scope: SyncScope = 'all'): Promise<void> {
    if (this.#closing) throw new CadreError('UNAVAILABLE', 'The daemon is stopping.')
    if (!this.#runs.has(sourceId) && (await this.#dependencies.others?.delegate(sourceId, 'start', scope))) return
    const mayBeParked = this.#dependencies.others && !this.#resumed.has(sourceId) // by a daemon that has ended
    if (scope === 'all' && (this.#parked.delete(sourceId) || mayBeParked)) await this.#forgetResumes(sourceId)
    // Also set during a run: its final status write either precedes this one or sees the queued pass.
    const statusStored = scope === 'all' ? setSourceStatus(this.#dependencies.database, sourceId, 'syncing') : Promise.resolve()
    const run = this.#runs.get(sourceId)
    if (run) run.queued = run.queued === 'all' ? 'all' : scope
    else this.#begin(sourceId, scope, statusStored)
    await statusStored
  }

  /** Starts a sync for a schedule or a watched folder, unless the source is parked. */
  async startAutomatically(sourceId: string): Promise<void> {
    if (!this.#parked.has(sourceId)) await this.start(sourceId)
  }

  #begin(sourceId: string, scope: SyncScope, statusStored: Promise<void>): void {
    const { promise: textReady, resolve: onTextReady } = createDeferred<void>()
    const run: SyncRun = { scope, controller: new AbortController(), queued: undefined, textReady, finished: Promise.resolve() }
    this.#runs.set(sourceId, run)
    const { progress } = this.#dependencies
    // An index update after a sync adds to the changes of that sync.
    if (scope === 'all') progress.resetChanges(sourceId)
    // Set before the status is stored, so that a client that reads the status can follow the progress.
    progress.begin(sourceId)
    run.finished = statusStored
      .then(() => this.#run(sourceId, run, onTextReady))
      .finally(() => this.#resumed.delete(sourceId) && this.#forgetResumes(sourceId))
      .finally(() => {
        onTextReady()
        this.#finish(sourceId, run)
      })
    run.finished.catch(() => undefined) // #run logs and stores the error
  }

  /** Stops a sync and keeps its completed work. Returns false if none is running. */
  async cancel(sourceId: string): Promise<boolean> {
    const run = this.#runs.get(sourceId)
    if (!run) return (await this.#dependencies.others?.send<boolean>(sourceId, 'cancel')) ?? false
    run.queued = undefined
    run.controller.abort(new CadreError('CONFLICT', 'The sync was cancelled.'))
    await run.finished.catch(() => undefined)
    // A start just before may have stored the status `syncing` for a pass that no longer comes.
    if (!this.#runs.has(sourceId)) await markCancelled(this.#dependencies.database, sourceId)
    return true
  }

  /** Ends the sync of a deleted source and removes its work directory. */
  async forgetSource(sourceId: string): Promise<void> {
    const { others } = this.#dependencies
    await others?.send(sourceId, 'forget')
    await this.cancel(sourceId)
    await others?.forget(sourceId)
    if (this.#parked.delete(sourceId)) await this.#forgetResumes(sourceId)
    this.#dependencies.progress.forgetChanges(sourceId)
    await rm(join(this.#dependencies.workDirectory, sourceId), { recursive: true, force: true })
  }

  async waitUntilIdle(sourceId: string): Promise<void> {
    for (let run = this.#runs.get(sourceId); run; run = this.#runs.get(sourceId)) await run.finished.catch(() => undefined)
    await this.#dependencies.others?.waitUntilIdle(sourceId)
  }

  async waitUntilTextReady(sourceId: string): Promise<void> {
    const run = this.#runs.get(sourceId)
    await (run ? run.textReady : this.#dependencies.others?.waitUntilIdle(sourceId, true))
  }

  /** Before the repair at startup has ended, an index may hold less than its records say. */
  async waitUntilRepaired(): Promise<void> {
    await this.#repaired
  }

  get isClosing(): boolean {
    return this.#closing
  }

  isRunning(sourceId: string): boolean {
    return this.#runs.has(sourceId)
  }

  /**
   * Removes what a kill left in the work directory: directories of deleted sources, and the snapshot of a backup. Must end before a
   * backup starts, which writes its snapshot there.
   */
  async sweepWorkDirectory(): Promise<void> {
    const { database, workDirectory, logger } = this.#dependencies
    try {
      for (const name of await readdir(workDirectory))
        if (!(await sourceExists(database, name))) await rm(join(workDirectory, name), { recursive: true, force: true })
    } catch (error) {
      logger.error({ err: error }, 'cannot remove old work files')
    }
  }

  /** Marks syncs that must not be resumed again as failed. A daemon of a shared database does this when it takes them over. */
  async parkSyncs(): Promise<void> {
    if (!this.#dependencies.others) await this.#park(await listParkedJobs(this.#dependencies.database, 'sync'))
  }

  async #park(sources: Set<string>): Promise<void> {
    const { database, logger } = this.#dependencies
    this.#parked = sources
    if (sources.size === 0) return
    logger.error({ sources: [...sources] }, 'syncs are not resumed again: the daemon ended twice after it had resumed them')
    await database.write((transaction) => parkSources(transaction, [...sources], PARKED_ERROR))
  }

  /**
   * Repairs indexes after a kill and resumes interrupted syncs. In a shared database, only of the sources that no other daemon has:
   * returns those that this daemon has taken over.
   */
  async resume(): Promise<Set<string> | undefined> {
    const { database, others } = this.#dependencies
    const claimed = await others?.claimAbandoned()
    if (claimed?.size === 0) return claimed
    const isMine = (sourceId: string) => claimed?.has(sourceId) ?? true
    if (claimed) await this.#park(new Set([...this.#parked, ...[...(await listParkedJobs(database, 'sync'))].filter(isMine)]))
    const interrupted = new Set((await listInterruptedSources(database)).filter(isMine))
    const incomplete = this.#repair(isMine)
    this.#repaired = incomplete.then(() => undefined)
    // These wait for the repair, but already report progress.
    await Promise.all([...interrupted].map((sourceId) => this.#resumeSource(sourceId, 'all')))
    for (const sourceId of await incomplete)
      if (!interrupted.has(sourceId) && !this.#parked.has(sourceId)) await this.#resumeSource(sourceId, 'indexes')
    return claimed
  }

  async #resumeSource(sourceId: string, scope: SyncScope): Promise<void> {
    this.#resumed.add(sourceId)
    // Not awaited first: a client that reads the status must find progress.
    const counted = this.#dependencies.database.write((transaction) => countResume(transaction, 'sync', sourceId))
    await Promise.all([counted, this.start(sourceId, scope)])
  }

  async #forgetResumes(sourceId: string): Promise<void> {
    await this.#dependencies.database.write((transaction) => forgetResumes(transaction, 'sync', sourceId))
  }

  /** Returns the sources whose indexes are incomplete, have passages of another version of the chunking, or need a vector index. */
  async #repair(isMine: (sourceId: string) => boolean): Promise<Set<string>> {
    const { database, indexes, writer, logger } = this.#dependencies
    await indexes.sweep(database).catch((error: unknown) => logger.error({ err: error }, 'cannot remove old tables'))
    const incomplete = new Set((await listIncompleteSources(database)).filter(isMine))
    for (const index of await listAllIndexes(database)) {
      if (!isMine(index.knowledge_source_id)) continue
      try {
        const isOutdated = index.chunking_version !== CHUNKING_VERSION
        if (isOutdated) logger.info({ index: index.id, source: index.knowledge_source_id }, 'rebuilding an index of an older version')
        const isComplete = (await writer.repair(index)) && index.ready === 1 && !isOutdated
        if (!isComplete || (await indexes.getVectorTable(index).needsVectorIndex())) incomplete.add(index.knowledge_source_id)
      } catch (error) {
        logger.error({ index: index.id, source: index.knowledge_source_id, err: error }, 'cannot check an index')
      }
    }
    return incomplete
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
    const { database, logger } = this.#dependencies
    const { signal } = run.controller
    const startedAt = Date.now()
    await this.#repaired
    const source = await sourceRecords.get(database, sourceId)
    if (!source) return
    if (run.scope === 'all') await discoverDocuments(this.#dependencies, source, signal)
    const indexes = await this.#dependencies.indexes.reconcile(database, sourceId)
    await parseDocuments(this.#dependencies, sourceId, indexes, signal)
    onTextReady()
    await embedPassages(this.#dependencies, sourceId, indexes, signal)
    await this.#dependencies.indexes.reconcile(database, sourceId)
    if (run.scope === 'all') await markSynced(database, sourceId, run.queued === 'all' ? 'syncing' : 'active')
    logger.info({ source: sourceId, ms: Date.now() - startedAt }, 'sync completed')
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
    if (scope === 'all' || !isExpected) await setSourceStatus(database, sourceId, 'error', reason)
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
