/** Stores a reply while it is written: its text and its model calls, in the same transactions. */
import type { CadreError } from '../../../src/contract/errors.ts'
import type { CallOrigin, CallUsage, Meter, MeteredModel } from '../../core/meter.ts'
import { estimateInput, estimateTokens } from '../../models/token-estimate.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { retryWrite } from '../../store/remote/retry-write.ts'
import type { ActiveReply } from '../reply/active-reply.ts'
import { deleteActiveReply, insertActiveReply, type OpenCall, setOpenCall } from '../reply/active-reply-store.ts'
import type { FinishReason, StoredToolCall } from '../reply/message-draft.ts'
import { insertMessage, type StoredMessage, touchConversation, updateContent, updateDraft, updateMessage } from '../store.ts'
import type { ComposedInput } from './compose-input.ts'

export interface ReplyRecorderDependencies {
  database: Database
  meter: Meter
  model: MeteredModel
  origin: CallOrigin
  reply: ActiveReply
  /** The largest number of tokens of a call's output. */
  maxTokens: number | null
}

/** Records a reply while it is written. */
export interface Recorder {
  /** Checks the budget and records the call before it is made. */
  beginCall(estimate: () => number): Promise<void>
  /** Settles a call that is followed by another one, and stores `work` in the same transaction. */
  settleCall(settled: CallUsage, work?: (transaction: Transaction) => Promise<void>): Promise<void>
  /** Records the end of the reply and settles its last call. */
  finishReply(settled: CallUsage | undefined, reason: FinishReason, failure?: CadreError): Promise<StoredMessage>
  /** Records the progress of the open call. */
  storeText(transaction: Transaction): Promise<void>
  /** Estimates the usage of an open call that did not complete. */
  estimateOpenCall(status: 'failed' | 'aborted' | 'interrupted', read: boolean): CallUsage | undefined
}

export class ReplyRecorder implements Recorder {
  readonly #dependencies: ReplyRecorderDependencies
  #openCall: OpenCall | undefined
  #storedLength = 0
  /** Other daemons read the calls from the database. */
  #storedCalls = ''

  constructor(dependencies: ReplyRecorderDependencies) {
    this.#dependencies = dependencies
  }

  /** Inserts the reply, with its first call if that is made immediately. */
  async insertReply(transaction: Transaction, first: ComposedInput | undefined): Promise<void> {
    const { reply } = this.#dependencies
    await insertMessage(transaction, reply.conversationId, reply.draft.toMessage())
    this.#openCall = first && (await this.#insertCall(transaction, estimateInput(first)))
    await insertActiveReply(transaction, reply.messageId, reply.conversationId, this.#openCall)
  }

  async beginCall(estimate: () => number): Promise<void> {
    if (this.#openCall) return
    const estimatedInput = estimate()
    const { database, meter, model, origin, reply } = this.#dependencies
    await meter.checkBudget(model, origin)
    this.#openCall = await database.write(async (transaction) => {
      const call = await this.#insertCall(transaction, estimatedInput)
      await setOpenCall(transaction, reply.messageId, call)
      return call
    })
  }

  async settleCall(settled: CallUsage, work?: (transaction: Transaction) => Promise<void>): Promise<void> {
    const { reply } = this.#dependencies
    await this.#settleWith(settled, async (transaction) => {
      await work?.(transaction)
      await setOpenCall(transaction, reply.messageId, undefined)
      await updateMessage(transaction, reply.draft.toMessage())
    })
    this.#storedLength = reply.draft.content.length
  }

  async finishReply(settled: CallUsage | undefined, reason: FinishReason, failure?: CadreError): Promise<StoredMessage> {
    const { reply } = this.#dependencies
    return this.#settleWith(settled, async (transaction) => {
      const message = reply.draft.toMessage(reason, failure)
      await updateMessage(transaction, message)
      await deleteActiveReply(transaction, reply.messageId)
      await touchConversation(transaction, reply.conversationId, new Date().toISOString())
      return message
    })
  }

  /** Stores new text and updates the estimated usage of the open call. */
  async storeText(transaction: Transaction): Promise<void> {
    const { meter, reply } = this.#dependencies
    const { content, toolCalls } = reply.draft
    const calls = toolCalls.map(formatProgress).join()
    if (content.length === this.#storedLength && calls === this.#storedCalls) return
    this.#storedLength = content.length
    if (calls === this.#storedCalls) await updateContent(transaction, reply.messageId, content.toWellFormed())
    else await updateDraft(transaction, reply.draft.toMessage())
    this.#storedCalls = calls
    if (this.#openCall) await meter.estimate(transaction, this.#openCall.entry, estimateOutput(this.#openCall, content))
  }

  estimateOpenCall(status: 'failed' | 'aborted' | 'interrupted', read: boolean): CallUsage | undefined {
    return this.#openCall && estimateCall(this.#openCall, this.#dependencies.reply.draft.content, status, read)
  }

  async #insertCall(transaction: Transaction, estimatedInput: number): Promise<OpenCall> {
    const { meter, model, origin, reply, maxTokens } = this.#dependencies
    const entry = await meter.begin(transaction, { model, kind: 'chat', origin, estimatedInput, maxOutput: maxTokens })
    return { entry, estimated_input: estimatedInput, said_before: reply.draft.content.length }
  }

  /** Settles the open call in the same transaction as `work`: if that fails, no usage is counted. */
  async #settleWith<T>(settled: CallUsage | undefined, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { database, meter, reply } = this.#dependencies
    const call = settled && this.#openCall
    if (!call) return retryWrite(database, work)
    const before = reply.draft.usage
    try {
      const result = await retryWrite(database, async (transaction) => {
        reply.draft.usage = before // the work may be repeated
        reply.draft.addUsage(settled, await meter.settle(transaction, call.entry, settled))
        return work(transaction)
      })
      this.#openCall = undefined
      return result
    } catch (error) {
      reply.draft.usage = before
      throw error
    }
  }
}

/** The output tokens of a call so far. */
export const estimateOutput = ({ said_before }: OpenCall, content: string): number => estimateTokens(content.slice(said_before))

/** `read` is false if the provider has read nothing, unless the model has written something. */
export function estimateCall(call: OpenCall, content: string, status: CallUsage['status'], read: boolean): CallUsage {
  const output_tokens = estimateOutput(call, content)
  return { input_tokens: read || output_tokens > 0 ? call.estimated_input : 0, output_tokens, status, estimated: true }
}

/** Changes with each step of a tool call. */
const formatProgress = ({ confirmation, latency_ms, error }: StoredToolCall): string => `${confirmation} ${latency_ms} ${error}`
