/** Records the usage of a reply that is not stored. */
import type { CadreError } from '../../../src/contract/errors.ts'
import { computeCost } from '../../core/compute-cost.ts'
import type { CallOrigin, CallUsage, Meter, MeteredModel, ModelCall, Settlement } from '../../core/meter.ts'
import { estimateTokens } from '../../models/token-estimate.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { ActiveReply } from '../reply/active-reply.ts'
import type { OpenCall } from '../reply/active-reply-store.ts'
import type { FinishReason } from '../reply/message-draft.ts'
import type { StoredMessage } from '../store.ts'

interface RecorderDependencies {
  database: Database
  meter: Meter
  model: MeteredModel
  origin: CallOrigin
  reply: ActiveReply
  /** The largest number of tokens of a call's output. */
  maxTokens: number | null
}

export class UsageRecorder {
  protected readonly dependencies: RecorderDependencies
  protected openCall: OpenCall | undefined
  readonly #isBatched: boolean

  /** Calls of many replies at once are recorded in batches, which delays each by some milliseconds. */
  constructor(dependencies: RecorderDependencies, { isBatched = false } = {}) {
    this.dependencies = dependencies
    this.#isBatched = isBatched
  }

  /** Checks the budget and records the call before it is made. */
  async beginCall(estimate: () => number): Promise<void> {
    if (this.openCall) return
    const { database, meter } = this.dependencies
    this.openCall = await this.createCall(estimate(), (call) =>
      this.#isBatched ? meter.beginWithoutFlush(call) : database.writeWithoutFlush((transaction) => meter.begin(transaction, call)),
    )
  }

  /** Settles a call that is followed by another one, and stores `work` in the same transaction. */
  async settleCall(settled: CallUsage, work?: (transaction: Transaction) => Promise<void>): Promise<void> {
    const { database, meter, reply } = this.dependencies
    const { entry } = this.openCall as OpenCall
    const cost = await database.writeWithoutFlush(async (transaction) => {
      await work?.(transaction)
      return meter.settle(transaction, entry, settled)
    })
    reply.draft.addUsage(settled, cost)
    this.openCall = undefined
  }

  takeLastCall(settled: CallUsage): Settlement {
    const { model, reply } = this.dependencies
    const { entry } = this.openCall as OpenCall
    reply.draft.addUsage(settled, computeCost(model.price, settled))
    this.openCall = undefined
    return { entry, call: settled }
  }

  /** Records the end of the reply and settles its last call. */
  async finishReply(settled: CallUsage | undefined, reason: FinishReason, failure?: CadreError): Promise<StoredMessage> {
    if (settled && this.openCall) await this.settleCall(settled)
    return this.dependencies.reply.draft.toMessage(reason, failure)
  }

  /** Records the progress of the open call. */
  async storeText(transaction: Transaction): Promise<void> {
    if (this.openCall) await this.dependencies.meter.estimate(transaction, this.openCall.entry, this.#estimateOutput(this.openCall))
  }

  /** Estimates the usage of an open call. `read` is false if the provider has read nothing, unless the model has written something. */
  estimateOpenCall(status: 'failed' | 'aborted' | 'interrupted', read: boolean): CallUsage | undefined {
    if (!this.openCall) return undefined
    const output_tokens = this.#estimateOutput(this.openCall)
    return { input_tokens: read || output_tokens > 0 ? this.openCall.estimated_input : 0, output_tokens, status, estimated: true }
  }

  protected async createCall(estimatedInput: number, begin: (call: ModelCall) => Promise<string>): Promise<OpenCall> {
    const { model, origin, reply, maxTokens } = this.dependencies
    const entry = await begin({ model, kind: 'chat', origin, estimatedInput, maxOutput: maxTokens })
    return { entry, estimated_input: estimatedInput, said_before: reply.draft.content.length }
  }

  /** The output tokens of a call so far. */
  #estimateOutput({ said_before }: OpenCall): number {
    return estimateTokens(this.dependencies.reply.draft.content.slice(said_before))
  }
}
