/** One reply at a time in a conversation: the queue of messages knows only the replies of this daemon. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../../cluster/cluster.ts'
import type { DatabaseReader } from '../../store/database.ts'
import { BusyError, type MessageQueue, type Turn } from '../message-queue.ts'
import { listReplyOwners } from './relayed-events-store.ts'

const RETRY_INTERVAL_MS = 250

class AnsweredElsewhereError extends BusyError {}

/** Throws if another daemon answers in the conversation. Called in the transaction that starts a reply. */
export async function requireNoOtherReply(cluster: Cluster, reader: DatabaseReader, conversationId: string): Promise<void> {
  if ((await listReplyOwners(cluster, reader, conversationId)).length > 0) throw new AnsweredElsewhereError()
}

/**
 * Starts a reply in its turn, which `waitsForTurn` queues for; with `wait`, as soon as no other daemon answers in the conversation.
 * `start` reads the conversation again each time. The turn of a reply that did not start ends.
 */
export async function startInTurn<T>(
  queue: MessageQueue,
  conversationId: string,
  { wait, waitsForTurn = wait }: { wait: boolean; waitsForTurn?: boolean },
  signal: AbortSignal,
  start: (turn: Turn) => Promise<T>,
): Promise<T> {
  const turn = await queue.acquireTurn(conversationId, waitsForTurn, signal)
  try {
    return await startWhenFree(wait, signal, () => start(turn))
  } catch (error) {
    turn.end()
    throw error
  }
}

async function startWhenFree<T>(wait: boolean, signal: AbortSignal, start: () => Promise<T>): Promise<T> {
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
