/** Meters embedding calls: one usage entry for each query and each batch of passages. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { CallOrigin, CallUsage, Meter } from '../../core/meter.ts'
import type { Embedder } from '../../embedding/embedder.ts'
import type { Logger } from '../../logging/logger.ts'
import type { ModelsService } from '../../models/service.ts'
import { estimateTokens } from '../../models/token-estimate.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { isStorageFullError } from '../../store/database-errors.ts'

/** Called with the number of tokens that the provider reports for a request. */
export type OnUsage = (tokens: number) => void

interface EmbeddingLedgerDependencies {
  database: Database
  meter: Meter
  models: ModelsService
  logger: Logger
}

export class EmbeddingLedger {
  readonly #dependencies: EmbeddingLedgerDependencies
  readonly #pendingWrites = new Set<Promise<unknown>>()

  constructor(dependencies: EmbeddingLedgerDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Runs `work` between opening and settling a usage entry. A local model does not wait for the second write, and neither waits
   * for the disk: the next start settles an entry that a kill left open.
   */
  async record<T>(
    embedder: Embedder,
    texts: readonly string[],
    origin: CallOrigin,
    work: (onUsage: OnUsage) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const { database, meter, models } = this.#dependencies
    const model = await models.getMeteredModel(database, embedder.id)
    await meter.checkBudget(model, origin)
    const estimate = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    const usage = { tokens: 0, requests: 0 }
    const isLocal = model.price?.input === 0
    const open = (transaction: Transaction) => meter.begin(transaction, { model, kind: 'embedding', origin, estimatedInput: estimate })
    // Writing blocks the event loop, so a local model starts first.
    const opening = isLocal ? yieldToEventLoop().then(() => database.writeWithoutFlush(open)) : database.write(open)
    if (!isLocal) await opening
    const onUsage = (tokens: number) => {
      usage.tokens += tokens
      usage.requests++
    }
    const [entry, outcome] = await Promise.allSettled([opening, work(onUsage)])
    if (entry.status === 'rejected') return this.#returnUnmetered(isLocal, entry.reason, outcome)
    const status = outcome.status === 'fulfilled' ? 'done' : signal?.aborted ? 'aborted' : 'failed'
    const isEstimated = usage.requests === 0
    const tokens = !isEstimated ? usage.tokens : status === 'failed' ? 0 : estimate
    const settling = this.#settle(entry.value, { input_tokens: tokens, output_tokens: 0, status, estimated: isEstimated }, isLocal)
    if (!isLocal) await settling
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }

  /** A search writes nothing else, so it also works on a full disk. Calls that may cost money are never made without an entry. */
  #returnUnmetered<T>(isLocal: boolean, reason: unknown, outcome: PromiseSettledResult<T>): T {
    if (!isLocal || !isStorageFullError(reason)) throw reason
    if (outcome.status === 'rejected') throw outcome.reason
    this.#dependencies.logger.warn({ err: reason }, 'the usage of a local embedding call is not recorded')
    return outcome.value
  }

  /** Waits for pending usage entries. */
  async close(): Promise<void> {
    await Promise.all(this.#pendingWrites)
  }

  async #settle(entry: string, call: CallUsage, isLocal: boolean): Promise<void> {
    const { database, meter, logger } = this.#dependencies
    const settle = (transaction: Transaction) => meter.settle(transaction, entry, call)
    // Writing blocks the event loop, so the search that needs the vector starts first.
    const written = isLocal ? yieldToEventLoop().then(() => database.writeWithoutFlush(settle)) : database.write(settle)
    const write = written
      // The next start settles the entry with its estimate.
      .catch((error: unknown) => logger.error({ err: error, entry }, 'cannot record the usage of an embedding call'))
      .finally(() => this.#pendingWrites.delete(write))
    this.#pendingWrites.add(write)
    await write
  }
}
