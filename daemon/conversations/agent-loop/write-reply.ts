/** Writes a reply to its end, whatever that is: what came is stored, what it took is counted, and one last event says so. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { Turn } from '../message-queue.ts'
import { Ended } from '../reply/active-reply.ts'
import { converse, type Stage } from './agent-loop.ts'
import type { Books } from './reply-persistence.ts'

interface Kept extends Stage {
  books: Books
  turn: Turn
}

export async function write(stage: Kept): Promise<void> {
  const { reply, books, turn, logger } = stage
  try {
    const { reason, settled } = await converse(stage)
    turn.storing()
    reply.finish({ message: await books.end(settled, reason) })
  } catch (error) {
    await breakOff(stage, error).catch((failure: unknown) => {
      // Not even the end could be stored, as on a full disk: the next start finds the reply as one that was cut off.
      logger.error({ err: failure, message_id: reply.messageId }, 'the end of a reply could not be stored')
      const told = asFailure(failure)
      reply.finish({ message: reply.draft.message('error', told), failure: told })
    })
  }
}

async function breakOff({ reply, books, turn, logger }: Kept, error: unknown): Promise<void> {
  turn.storing()
  const { reason } = reply.signal as { reason: unknown }
  if (reply.signal.aborted && reason instanceof Ended) {
    const message = await books.end(books.estimated(reason.as, true), reason.as)
    reply.finish(reason.as === 'aborted' ? { message } : { message, failure: interrupted() })
    return
  }
  if (!(error instanceof CadreError)) logger.error({ err: error, message_id: reply.messageId }, 'a reply failed unforeseen')
  const failure = asFailure(error)
  // A provider that refused has read nothing; one that did not answer in time may well have.
  const message = await books.end(books.estimated('failed', failure.code === 'PROVIDER_TIMEOUT'), 'error', failure)
  reply.finish({ message, failure })
}

export const interrupted = () =>
  new CadreError('UNAVAILABLE', 'The daemon ended before the reply did; what was written is stored.', { hint: 'Send the message again.' })

function asFailure(error: unknown): CadreError {
  if (error instanceof CadreError) return error
  return new CadreError('INTERNAL', 'Something went wrong inside Cadre. This is a bug.', {
    hint: 'The log has the details: cadre daemon logs',
    cause: error,
  })
}
