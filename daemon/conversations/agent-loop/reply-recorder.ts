/** Stores a reply while it is written: its text and its model calls, in the same transactions. */
import type { CadreError } from '../../../src/contract/errors.ts'
import type { CallUsage } from '../../core/meter.ts'
import { estimateInput } from '../../models/token-estimate.ts'
import type { Transaction } from '../../store/database.ts'
import { retryWrite } from '../../store/remote/retry-write.ts'
import { deleteActiveReply, insertActiveReply, type OpenCall, setOpenCall } from '../reply/active-reply-store.ts'
import type { FinishReason, StoredToolCall } from '../reply/message-draft.ts'
import { insertMessage, type StoredMessage, touchConversation, updateContent, updateDraft, updateMessage } from '../store.ts'
import type { ComposedInput } from './compose-input.ts'
import { UsageRecorder } from './usage-recorder.ts'

export class ReplyRecorder extends UsageRecorder {
  #storedLength = 0
  /** Other daemons read the calls from the database. */
  #storedCalls = ''

  /** Inserts the reply, with its first call if that is made immediately. */
  async insertReply(transaction: Transaction, first: ComposedInput | undefined): Promise<void> {
    const { reply } = this.dependencies
    await insertMessage(transaction, reply.conversationId, reply.draft.toMessage())
    this.openCall = first && (await this.#insertCall(transaction, estimateInput(first)))
    await insertActiveReply(transaction, reply.messageId, reply.conversationId, this.openCall)
  }

  override async beginCall(estimate: () => number): Promise<void> {
    if (this.openCall) return
    const estimatedInput = estimate()
    const { database, meter, model, origin, reply } = this.dependencies
    await meter.checkBudget(model, origin)
    this.openCall = await database.write(async (transaction) => {
      const call = await this.#insertCall(transaction, estimatedInput)
      await setOpenCall(transaction, reply.messageId, call)
      return call
    })
  }

  override async settleCall(settled: CallUsage, work?: (transaction: Transaction) => Promise<void>): Promise<void> {
    const { reply } = this.dependencies
    await this.#settleWith(settled, async (transaction) => {
      await work?.(transaction)
      await setOpenCall(transaction, reply.messageId, undefined)
      await updateMessage(transaction, reply.draft.toMessage())
    })
    this.#storedLength = reply.draft.content.length
  }

  override async finishReply(settled: CallUsage | undefined, reason: FinishReason, failure?: CadreError): Promise<StoredMessage> {
    const { reply } = this.dependencies
    return this.#settleWith(settled, async (transaction) => {
      const message = reply.draft.toMessage(reason, failure)
      await updateMessage(transaction, message)
      await deleteActiveReply(transaction, reply.messageId)
      await touchConversation(transaction, reply.conversationId, new Date().toISOString())
      return message
    })
  }

  /** Also stores new text. */
  override async storeText(transaction: Transaction): Promise<void> {
    const { reply } = this.dependencies
    const { content, toolCalls } = reply.draft
    const calls = toolCalls.map(formatProgress).join()
    if (content.length === this.#storedLength && calls === this.#storedCalls) return
    this.#storedLength = content.length
    if (calls === this.#storedCalls) await updateContent(transaction, reply.messageId, content.toWellFormed())
    else await updateDraft(transaction, reply.draft.toMessage())
    this.#storedCalls = calls
    await super.storeText(transaction)
  }

  #insertCall(transaction: Transaction, estimatedInput: number): Promise<OpenCall> {
    return this.createCall(estimatedInput, (call) => this.dependencies.meter.begin(transaction, call))
  }

  /** Settles the open call in the same transaction as `work`: if that fails, no usage is counted. */
  async #settleWith<T>(settled: CallUsage | undefined, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { database, meter, reply } = this.dependencies
    const call = settled && this.openCall
    if (!call) return retryWrite(database, work)
    const before = reply.draft.usage
    try {
      const result = await retryWrite(database, async (transaction) => {
        reply.draft.usage = before // the work may be repeated
        reply.draft.addUsage(settled, await meter.settle(transaction, call.entry, settled))
        return work(transaction)
      })
      this.openCall = undefined
      return result
    } catch (error) {
      reply.draft.usage = before
      throw error
    }
  }
}

/** Changes with each step of a tool call. */
const formatProgress = ({ confirmation, latency_ms, error }: StoredToolCall): string => `${confirmation} ${latency_ms} ${error}`
