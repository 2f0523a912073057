/** What a reply leaves behind while it is written: its text and its calls of the model, each in one transaction with the other. */
import type { CadreError } from '../../../src/contract/errors.ts'
import type { CallOrigin, Meter, MeteredModel, SettledCall } from '../../core/meter.ts'
import { estimateRequest, estimateTokens } from '../../models/token-estimate.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { Reply } from '../reply/active-reply.ts'
import { deleteUnderWay, insertUnderWay, type OpenCall, setOpenCall } from '../reply/active-reply-store.ts'
import type { FinishReason } from '../reply/message-draft.ts'
import { insertMessage, type StoredMessage, setContent, touchConversation, updateMessage } from '../store.ts'
import type { Composed } from './context-window.ts'

export interface BooksParts {
  database: Database
  meter: Meter
  model: MeteredModel
  origin: CallOrigin
  reply: Reply
}

export class Books {
  readonly #parts: BooksParts
  #call: OpenCall | undefined
  /** How long the text was when it was last stored. */
  #stored = 0

  constructor(parts: BooksParts) {
    this.#parts = parts
  }

  /** Enters the reply, with its first call where that is made at once. */
  async open(transaction: Transaction, first: Composed | undefined): Promise<void> {
    const { reply } = this.#parts
    await insertMessage(transaction, reply.conversationId, reply.draft.message())
    this.#call = first && (await this.#begin(transaction, estimateRequest(first)))
    await insertUnderWay(transaction, reply.messageId, reply.conversationId, this.#call)
  }

  /** Before each call: whether it may be made, and that it is. */
  async next(estimate: () => number): Promise<void> {
    if (this.#call) return
    const estimatedInput = estimate()
    const { database, meter, model, origin, reply } = this.#parts
    await meter.admit(model, origin)
    this.#call = await database.write(async (transaction) => {
      const call = await this.#begin(transaction, estimatedInput)
      await setOpenCall(transaction, reply.messageId, call)
      return call
    })
  }

  /** After a call that others follow. */
  async step(settled: SettledCall): Promise<void> {
    const { reply } = this.#parts
    await this.#settling(settled, async (transaction) => {
      await setOpenCall(transaction, reply.messageId, undefined)
      await updateMessage(transaction, reply.draft.message())
    })
    this.#stored = reply.draft.content.length
  }

  /** The end of all, with the last call unless that was settled. */
  async end(settled: SettledCall | undefined, reason: FinishReason, failure?: CadreError): Promise<StoredMessage> {
    const { reply } = this.#parts
    return this.#settling(settled, async (transaction) => {
      const message = reply.draft.message(reason, failure)
      await updateMessage(transaction, message)
      await deleteUnderWay(transaction, reply.messageId)
      await touchConversation(transaction, reply.conversationId, new Date().toISOString())
      return message
    })
  }

  /** The text so far, and what it makes of the open call, if there is more of it than was stored. */
  async checkpoint(transaction: Transaction): Promise<void> {
    const { meter, reply } = this.#parts
    const { content } = reply.draft
    if (content.length === this.#stored) return
    this.#stored = content.length
    await setContent(transaction, reply.messageId, content.toWellFormed())
    if (this.#call) await meter.estimate(transaction, this.#call.entry, estimateTokens(content.slice(this.#call.said_before)))
  }

  /** What the open call took, as far as we can tell: for one that nobody will count any more. */
  estimated(status: 'failed' | 'aborted' | 'interrupted', read: boolean): SettledCall | undefined {
    if (!this.#call) return undefined
    const output_tokens = estimateTokens(this.#parts.reply.draft.content.slice(this.#call.said_before))
    const input_tokens = read || output_tokens > 0 ? this.#call.estimated_input : 0
    return { input_tokens, output_tokens, status, estimated: true }
  }

  async #begin(transaction: Transaction, estimatedInput: number): Promise<OpenCall> {
    const { meter, model, origin, reply } = this.#parts
    const entry = await meter.begin(transaction, { model, kind: 'chat', origin, estimatedInput })
    return { entry, estimated_input: estimatedInput, said_before: reply.draft.content.length }
  }

  /** Settles the open call together with other work; if that cannot be stored, nothing was counted either. */
  async #settling<T>(settled: SettledCall | undefined, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { database, meter, reply } = this.#parts
    const call = settled && this.#call
    if (!call) return database.write(work)
    const before = reply.draft.spent
    try {
      const result = await database.write(async (transaction) => {
        reply.draft.count(settled, await meter.settle(transaction, call.entry, settled))
        return work(transaction)
      })
      this.#call = undefined
      return result
    } catch (error) {
      reply.draft.spent = before
      throw error
    }
  }
}
