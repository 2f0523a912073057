/** Records only the usage of a reply that is not stored. */
import type { CadreError } from '../../../src/contract/errors.ts'
import { computeCost } from '../../core/compute-cost.ts'
import type { CallUsage, Settlement } from '../../core/meter.ts'
import type { Transaction } from '../../store/database.ts'
import type { OpenCall } from '../reply/active-reply-store.ts'
import type { FinishReason } from '../reply/message-draft.ts'
import type { StoredMessage } from '../store.ts'
import { estimateCall, estimateOutput, type Recorder, type ReplyRecorderDependencies } from './reply-recorder.ts'

export class UsageRecorder implements Recorder {
  readonly #dependencies: ReplyRecorderDependencies
  readonly #isBatched: boolean
  #openCall: OpenCall | undefined

  /** Calls of many replies at once are recorded in batches, which delays each by some milliseconds. */
  constructor(dependencies: ReplyRecorderDependencies, { isBatched = false } = {}) {
    this.#dependencies = dependencies
    this.#isBatched = isBatched
  }

  async beginCall(estimate: () => number): Promise<void> {
    if (this.#openCall) return
    const { database, meter, model, origin, reply, maxTokens } = this.#dependencies
    const estimatedInput = estimate()
    const call = { model, kind: 'chat' as const, origin, estimatedInput, maxOutput: maxTokens }
    const entry = await (this.#isBatched
      ? meter.beginWithoutFlush(call)
      : database.writeWithoutFlush((transaction) => meter.begin(transaction, call)))
    this.#openCall = { entry, estimated_input: estimatedInput, said_before: reply.draft.content.length }
  }

  async settleCall(settled: CallUsage, work?: (transaction: Transaction) => Promise<void>): Promise<void> {
    const { database, meter, reply } = this.#dependencies
    const { entry } = this.#openCall as { entry: string }
    const cost = await database.writeWithoutFlush(async (transaction) => {
      await work?.(transaction)
      return meter.settle(transaction, entry, settled)
    })
    reply.draft.addUsage(settled, cost)
    this.#openCall = undefined
  }

  takeLastCall(settled: CallUsage): Settlement {
    const { model, reply } = this.#dependencies
    const { entry } = this.#openCall as { entry: string }
    reply.draft.addUsage(settled, computeCost(model.price, settled))
    this.#openCall = undefined
    return { entry, call: settled }
  }

  /** `read` is false if the provider rejected the request or was never called. */
  async settleFailedCall(status: 'failed' | 'aborted', read: boolean): Promise<void> {
    if (!this.#openCall) return
    await this.settleCall({ input_tokens: read ? this.#openCall.estimated_input : 0, output_tokens: 0, status, estimated: true })
  }

  async finishReply(settled: CallUsage | undefined, reason: FinishReason, failure?: CadreError): Promise<StoredMessage> {
    if (settled && this.#openCall) await this.settleCall(settled)
    return this.#dependencies.reply.draft.toMessage(reason, failure)
  }

  /** Updates the estimated usage of the open call. */
  async storeText(transaction: Transaction): Promise<void> {
    const { meter, reply } = this.#dependencies
    if (this.#openCall) await meter.estimate(transaction, this.#openCall.entry, estimateOutput(this.#openCall, reply.draft.content))
  }

  estimateOpenCall(status: 'failed' | 'aborted' | 'interrupted', read: boolean): CallUsage | undefined {
    return this.#openCall && estimateCall(this.#openCall, this.#dependencies.reply.draft.content, status, read)
  }
}
