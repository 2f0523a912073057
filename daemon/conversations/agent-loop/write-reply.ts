/** Writes a reply to its end, whatever that is: what came is stored, what it took is counted, and one last event says so. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { Turn } from '../message-queue.ts'
import { ReplyAbortedError } from '../reply/active-reply.ts'
import { type AgentLoopInput, runAgentLoop } from './agent-loop.ts'
import type { ReplyRecorder } from './reply-recorder.ts'

interface WriteReplyInput extends AgentLoopInput {
  recorder: ReplyRecorder
  turn: Turn
}

export async function writeReply(stage: WriteReplyInput): Promise<void> {
  const { reply, recorder: books, turn, logger } = stage
  try {
    const { finishReason: reason, settled } = await runAgentLoop(stage)
    turn.markStoring()
    reply.finish({ message: await books.finishReply(settled, reason) })
  } catch (error) {
    await storeFailure(stage, error).catch((failure: unknown) => {
      // Not even the end could be stored, as on a full disk: the next start finds the reply as one that was cut off.
      logger.error({ err: failure, message_id: reply.messageId }, 'the end of a reply could not be stored')
      const told = toCadreError(failure)
      reply.finish({ message: reply.draft.toMessage('error', told), failure: told })
    })
  }
}

async function storeFailure({ reply, recorder: books, turn, logger }: WriteReplyInput, error: unknown): Promise<void> {
  turn.markStoring()
  const { reason } = reply.signal as { reason: unknown }
  if (reply.signal.aborted && reason instanceof ReplyAbortedError) {
    const message = await books.finishReply(books.estimateOpenCall(reason.finishReason, true), reason.finishReason)
    reply.finish(reason.finishReason === 'aborted' ? { message } : { message, failure: createInterruptedError() })
    return
  }
  if (!(error instanceof CadreError)) logger.error({ err: error, message_id: reply.messageId }, 'a reply failed unforeseen')
  const failure = toCadreError(error)
  // A provider that refused has read nothing; one that did not answer in time may well have.
  const message = await books.finishReply(books.estimateOpenCall('failed', failure.code === 'PROVIDER_TIMEOUT'), 'error', failure)
  reply.finish({ message, failure })
}

export const createInterruptedError = () =>
  new CadreError('UNAVAILABLE', 'The daemon ended before the reply did; what was written is stored.', { hint: 'Send the message again.' })

function toCadreError(error: unknown): CadreError {
  if (error instanceof CadreError) return error
  return new CadreError('INTERNAL', 'Something went wrong inside Cadre. This is a bug.', {
    hint: 'The log has the details: cadre daemon logs',
    cause: error,
  })
}
