/** One reply at a time in a conversation of a shared database: the queue of messages knows only the replies of this daemon. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction } from '../../store/database.ts'
import { BusyError } from '../message-queue.ts'
import { isAnsweredElsewhere } from '../reply/active-reply-store.ts'

const RETRY_INTERVAL_MS = 250

class AnsweredElsewhereError extends BusyError {}

/** Throws in the transaction that would start a second reply. */
export async function requireNoOtherReply(transaction: Transaction, conversationId: string): Promise<void> {
  const { daemonId } = transaction
  if (daemonId !== undefined && (await isAnsweredElsewhere(transaction, conversationId, daemonId))) throw new AnsweredElsewhereError()
}

/** Starts a reply; with `wait`, as soon as no other daemon answers in the conversation. `start` reads the conversation again each time. */
export async function startWhenFree<T>(wait: boolean, signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await start()
    } catch (error) {
      if (!wait || !(error instanceof AnsweredElsewhereError)) throw error
      await pause(RETRY_INTERVAL_MS, undefined, { signal })
    }
  }
}
