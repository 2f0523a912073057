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

/** The signal ends the reply. Without a function that asks its followers, the reply is unattended. */
export function createPendingConfirmations(
  draft: MessageDraft,
  signal: AbortSignal,
  ask: ((request: ConfirmationRequest) => void) | undefined,
) {
  const confirmations = new Map<string, Confirmation>()
  let pending = createDeferred<void>()

  /** Resolves when a tool call waits for confirmation. */
  function waitForPending(): Promise<void> {
    return pending.promise
  }

  /** Asks the followers whether a tool call may be executed. */
  async function request(
    call: StoredToolCall,
    details: Pick<ConfirmationRequest, 'tool_id' | 'reason'>,
    describeRequest: DescribeRequest,
  ): Promise<ConfirmationAnswer> {
    signal.throwIfAborted()
    if (!ask) {
      call.confirmation = 'refused'
      return 'unattended'
    }
    call.confirmation = 'pending'
    const answer = createDeferred<ConfirmationAnswer>()
    const timer = setTimeout(() => answer.resolve('unanswered'), CONFIRMATION_TIMEOUT_MS)
    confirmations.set(call.id, { resolve: answer.resolve, describeRequest })
    const { id, name, arguments: args } = call
    ask({ id, name, arguments: args, ...details, ...describeRequest(args) })
    pending.resolve()
    try {
      return await raceAbort(answer.promise, signal)
    } finally {
      if (call.confirmation === 'pending') call.confirmation = 'refused' // unanswered
      clearTimeout(timer)
      remove(call.id)
    }
  }

  function remove(callId: string): void {
    if (confirmations.delete(callId) && confirmations.size === 0) pending = createDeferred()
  }

  /** Answers a confirmation, with other arguments if given; repeating the same answer is allowed. */
  function answer(callId: string, allow: boolean, args?: StoredToolCall['arguments']): StoredToolCall {
    const answer = allow ? 'allowed' : 'refused'
    const call = requireToolCall(callId)
    const confirmation = confirmations.get(callId)
    if (confirmation) {
      call.confirmation = answer
      if (args !== undefined) call.arguments = args
      remove(callId)
      confirmation.resolve(answer)
    }
    if (call.confirmation !== answer) throw createAnsweredError(call)
    if (args !== undefined && !isDeepStrictEqual(args, call.arguments))
      throw new CadreError('CONFLICT', 'This tool call was already allowed with other arguments.')
    return { ...call }
  }

  /** Returns a pending call as it would be with other arguments, and the request that it would send. Changes nothing. */
  function preview(callId: string, args: StoredToolCall['arguments']): StoredToolCall & RequestDescription {
    const call = requireToolCall(callId)
    const confirmation = confirmations.get(callId)
    if (!confirmation) throw createAnsweredError(call)
    return { ...call, arguments: args, ...confirmation.describeRequest(args) }
  }

  function requireToolCall(callId: string): StoredToolCall {
    const call = draft.toolCalls.find(({ id }) => id === callId)
    if (!call) throw new CadreError('NOT_FOUND', `There is no tool call "${callId}" in this reply.`)
    return call
  }

  return { waitForPending, request, answer, preview }
}

export type PendingConfirmations = ReturnType<typeof createPendingConfirmations>

const createAnsweredError = ({ confirmation }: StoredToolCall) =>
  new CadreError(
    'CONFLICT',
    confirmation === undefined ? 'This tool call does not require confirmation.' : `This tool call was already ${confirmation}.`,
  )
