/** Deletes the stored original of a document unless another document has the same content. */
import type { Database } from '../store/database.ts'
import type { OriginalStore } from '../store/original-store.ts'
import { isContentInUse } from './store.ts'

export async function releaseOriginal(originals: OriginalStore, database: Database, contentHash: string | undefined): Promise<void> {
  if (contentHash) await originals.release(contentHash, (reader = database) => isContentInUse(reader, contentHash))
}
