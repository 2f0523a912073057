/** Enters what is embedded in the ledger: an entry a batch of passages, and one a query. */

import type { CallOrigin, Meter, SettledCall } from '../../core/meter.ts'
import type { Embedder } from '../../embedding/embedder.ts'
import type { Logger } from '../../logging/logger.ts'
import type { ModelsService } from '../../models/service.ts'
import { estimateTokens } from '../../models/token-estimate.ts'
import type { Database } from '../../store/database.ts'

/** Told what a provider counted. */
export type CountTokens = (tokens: number) => void

export interface EmbeddingLedgerDependencies {
  database: Database
  meter: Meter
  models: ModelsService
  logger: Logger
}

export class EmbeddingLedger {
  readonly #dependencies: EmbeddingLedgerDependencies
  readonly #pendingWrites = new Set<Promise<unknown>>()

  constructor(parts: EmbeddingLedgerDependencies) {
    this.#dependencies = parts
  }

  /** Does the work between the two halves of an entry. What runs on this machine does not wait for either: an entry left open by a kill is counted all the same. */
  async record<T>(
    embedder: Embedder,
    texts: readonly string[],
    origin: CallOrigin,
    work: (counted: CountTokens) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const { database, meter, models } = this.#dependencies
    const model = await models.getMeteredModel(database, embedder.id)
    await meter.admit(model, origin)
    const estimate = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    const begin = () =>
      database.write((transaction) => meter.begin(transaction, { model, kind: 'embedding', origin, estimatedInput: estimate }))
    const tally: Tally = { counted: 0, requests: 0 }
    const counted = (tokens: number) => {
      tally.counted += tokens
      tally.requests++
    }
    const local = model.price?.input === 0
    const beginning = begin()
    if (!local) await beginning
    const [entry, done] = await Promise.allSettled([beginning, work(counted)])
    if (entry.status === 'rejected') throw entry.reason
    const status = done.status === 'fulfilled' ? 'done' : signal?.aborted ? 'aborted' : 'failed'
    const settled = this.#settle(entry.value, toSettledCall(tally, estimate, status))
    if (!local) await settled
    if (done.status === 'rejected') throw done.reason
    return done.value
  }

  /** Resolves when all that was embedded is entered. */
  async close(): Promise<void> {
    await Promise.all(this.#pendingWrites)
  }

  async #settle(entry: string, call: SettledCall): Promise<void> {
    const { database, meter, logger } = this.#dependencies
    const settled = database
      .write((transaction) => meter.settle(transaction, entry, call))
      // The next start settles it with the estimate.
      .catch((error: unknown) => logger.error({ err: error, entry }, 'what was embedded could not be entered'))
      .finally(() => this.#pendingWrites.delete(settled))
    this.#pendingWrites.add(settled)
    await settled
  }
}

interface Tally {
  counted: number
  requests: number
}

/** What failed before anything was counted took nothing; what is not counted at all is estimated. */
function toSettledCall({ counted, requests }: Tally, estimate: number, status: SettledCall['status']): SettledCall {
  if (requests > 0) return { input_tokens: counted, output_tokens: 0, status, estimated: false }
  return { input_tokens: status === 'failed' ? 0 : estimate, output_tokens: 0, status, estimated: true }
}
