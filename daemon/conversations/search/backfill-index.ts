/** Indexes the messages that were stored before the index existed, in the background. */
import type { Database } from '../../store/database.ts'
import { hasUnindexedMessages, indexNextMessages } from './message-index-store.ts'

/** Continues where the last daemon stopped, until the signal is aborted. */
export async function backfillIndex(database: Database, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await hasUnindexedMessages(database))) await database.writeWithoutFlush(indexNextMessages)
}
