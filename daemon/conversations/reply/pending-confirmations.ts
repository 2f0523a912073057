/** The tool calls of a reply that wait for the confirmation of the user. */
import { isDeepStrictEqual } from 'node:util'
import { CadreError } from '../../../src/contract/errors.ts'
import type { ReplyEvents } from '../../../src/contract/reply-events.ts'
import { raceAbort } from '../../async/abortable.ts'
import { createDeferred } from '../../async/deferred.ts'
import type { MessageDraft, StoredToolCall } from './message-draft.ts'

const CONFIRMATION_TIMEOUT_MS = 10 * 60 * 1000

/** Unattended replies have nobody who could answer. */
type ConfirmationAnswer = 'allowed' | 'refused' | 'unanswered' | 'unattended'
type ConfirmationRequest = ReplyEvents['confirmation_required']

/** What a tool call would do, for the user who confirms it. */
type RequestDescription = Pick<ConfirmationRequest, 'method' | 'url'>
type DescribeRequest = (args: StoredToolCall['arguments']) => RequestDescription

interface Confirmation {
  resolve: (answer: ConfirmationAnswer) => void
  describeRequest: DescribeRequest
}

export class PendingConfirmations {
  readonly #draft: MessageDraft
  readonly #signal: AbortSignal
  readonly #ask: ((request: ConfirmationRequest) => void) | undefined
  readonly #confirmations = new Map<string, Confirmation>()
  #pending = createDeferred<void>()

  /** The signal ends the reply. Without a function that asks its followers, the reply is unattended. */
  constructor(draft: MessageDraft, signal: AbortSignal, ask: ((request: ConfirmationRequest) => void) | undefined) {
    this.#draft = draft
    this.#signal = signal
    this.#ask = ask
  }

  /** Resolves when a tool call waits for confirmation. */
  waitForPending(): Promise<void> {
    return this.#pending.promise
  }

  /** Asks the followers whether a tool call may be executed. */
  async request(
    call: StoredToolCall,
    details: Pick<ConfirmationRequest, 'tool_id' | 'reason'>,
    describeRequest: DescribeRequest,
  ): Promise<ConfirmationAnswer> {
    this.#signal.throwIfAborted()
    if (!this.#ask) {
      call.confirmation = 'refused'
      return 'unattended'
    }
    call.confirmation = 'pending'
    const answer = createDeferred<ConfirmationAnswer>()
    const timer = setTimeout(() => answer.resolve('unanswered'), CONFIRMATION_TIMEOUT_MS)
    this.#confirmations.set(call.id, { resolve: answer.resolve, describeRequest })
    const { id, name, arguments: args } = call
    this.#ask({ id, name, arguments: args, ...details, ...describeRequest(args) })
    this.#pending.resolve()
    try {
      return await raceAbort(answer.promise, this.#signal)
    } finally {
      if (call.confirmation === 'pending') call.confirmation = 'refused' // unanswered
      clearTimeout(timer)
      this.#remove(call.id)
    }
  }

  #remove(callId: string): void {
    if (this.#confirmations.delete(callId) && this.#confirmations.size === 0) this.#pending = createDeferred()
  }

  /** Answers a confirmation, with other arguments if given; repeating the same answer is allowed. */
  answer(callId: string, allow: boolean, args?: StoredToolCall['arguments']): StoredToolCall {
    const answer = allow ? 'allowed' : 'refused'
    const call = this.#requireToolCall(callId)
    const confirmation = this.#confirmations.get(callId)
    if (confirmation) {
      call.confirmation = answer
      if (args !== undefined) call.arguments = args
      this.#remove(callId)
      confirmation.resolve(answer)
    }
    if (call.confirmation !== answer) throw createAnsweredError(call)
    if (args !== undefined && !isDeepStrictEqual(args, call.arguments))
      throw new CadreError('CONFLICT', 'This tool call was already allowed with other arguments.')
    return { ...call }
  }

  /** Returns a pending call as it would be with other arguments, and the request that it would send. Changes nothing. */
  preview(callId: string, args: StoredToolCall['arguments']): StoredToolCall & RequestDescription {
    const call = this.#requireToolCall(callId)
    const confirmation = this.#confirmations.get(callId)
    if (!confirmation) throw createAnsweredError(call)
    return { ...call, arguments: args, ...confirmation.describeRequest(args) }
  }

  #requireToolCall(callId: string): StoredToolCall {
    const call = this.#draft.toolCalls.find(({ id }) => id === callId)
    if (!call) throw new CadreError('NOT_FOUND', `There is no tool call "${callId}" in this reply.`)
    return call
  }
}

const createAnsweredError = ({ confirmation }: StoredToolCall) =>
  new CadreError(
    'CONFLICT',
    confirmation === undefined ? 'This tool call does not require confirmation.' : `This tool call was already ${confirmation}.`,
  )
