/** One reply at a time in a conversation: the queue of messages knows only the replies of this daemon. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../../cluster/cluster.ts'
import type { DatabaseReader } from '../../store/database.ts'
import { BusyError } from '../message-queue.ts'
import { listReplyOwners } from './relayed-events-store.ts'

const RETRY_INTERVAL_MS = 250

class AnsweredElsewhereError extends BusyError {}

/** Throws if another daemon answers in the conversation. Called in the transaction that starts a reply. */
export async function requireNoOtherReply(cluster: Cluster, reader: DatabaseReader, conversationId: string): Promise<void> {
  if ((await listReplyOwners(cluster, reader, conversationId)).length > 0) throw new AnsweredElsewhereError()
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
