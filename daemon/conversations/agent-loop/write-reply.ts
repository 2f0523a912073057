/** Writes a reply: runs the agent loop, then stores text and usage and sends the last event, also after a failure. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { Turn } from '../message-queue.ts'
import { ReplyAbortedError } from '../reply/active-reply.ts'
import { runAgentLoop } from './agent-loop.ts'
import type { AgentLoopInput } from './turn-context.ts'

interface WriteReplyInput extends AgentLoopInput {
  turn: Turn
}

export async function writeReply(input: WriteReplyInput): Promise<void> {
  const { reply, recorder, turn, logger } = input
  try {
    const { finishReason, settled } = await runAgentLoop(input)
    turn.markStoring()
    reply.finish({ message: await recorder.finishReply(settled, finishReason) })
  } catch (error) {
    await storeFailure(input, error).catch((failure: unknown) => {
      // The end could not be stored, for example on a full disk. The next start marks the reply as interrupted.
      logger.error({ err: failure, message_id: reply.messageId }, 'the end of a reply could not be stored')
      const storeError = toCadreError(failure)
      reply.finish({ message: reply.draft.toMessage('error', storeError), failure: storeError })
    })
  }
}

async function storeFailure({ reply, recorder, turn, logger }: WriteReplyInput, error: unknown): Promise<void> {
  turn.markStoring()
  const { reason } = reply.signal as { reason: unknown }
  if (reply.signal.aborted && reason instanceof ReplyAbortedError) {
    const message = await recorder.finishReply(recorder.estimateOpenCall(reason.finishReason, true), reason.finishReason)
    reply.finish(reason.finishReason === 'aborted' ? { message } : { message, failure: createInterruptedError() })
    return
  }
  if (!(error instanceof CadreError)) logger.error({ err: error, message_id: reply.messageId }, 'a reply failed unexpectedly')
  const failure = toCadreError(error)
  // A provider that rejected the request has read nothing; one that timed out may have.
  const message = await recorder.finishReply(recorder.estimateOpenCall('failed', failure.code === 'PROVIDER_TIMEOUT'), 'error', failure)
  reply.finish({ message, failure })
}

export const createInterruptedError = () =>
  new CadreError('UNAVAILABLE', 'The daemon stopped before the reply was complete. The text so far is stored.', {
    hint: 'Repeat the request with retry: true (cadre ask --retry, or /retry in the chat).',
  })

function toCadreError(error: unknown): CadreError {
  if (error instanceof CadreError) return error
  return new CadreError('INTERNAL', 'Something went wrong inside Cadre. This is a bug.', {
    hint: 'The log has the details: cadre daemon logs',
    cause: error,
  })
}
