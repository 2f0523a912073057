/** The interface of stores for the originals of documents, addressed by content hash. */
import { readFile } from 'node:fs/promises'
import type { DatabaseReader, Transaction } from './database.ts'

/** An original whose content does not match its hash. */
export class DamagedOriginalError extends Error {}

/** Whether reading failed because the original is missing or damaged. */
export const isOriginalError = (error: unknown): boolean =>
  error instanceof DamagedOriginalError || (error as NodeJS.ErrnoException).code === 'ENOENT'

/** Must be called in the transaction that records an original. Throws if the original was removed since it was stored. */
export type ConfirmOriginal = (transaction: Transaction) => Promise<void>

/** The bytes of an original, or the path of its file: a process that reads a large file itself needs no copies of it in this one. */
export type OriginalContent = Uint8Array | string

export const loadContent = async (content: OriginalContent): Promise<Uint8Array> =>
  typeof content === 'string' ? readFile(content) : content

export interface OriginalStore {
  /** Whether other daemons use it. */
  readonly isRemote: boolean
  /** Stores the bytes durably, then calls `record`. They cannot be removed in between. `record` may be called again. */
  keep<T>(bytes: Uint8Array, record: (contentHash: string, confirm: ConfirmOriginal) => Promise<T>): Promise<T>
  /** Keeps all originals until the returned function is called, which removes those released in between. */
  hold(): () => Promise<void>
  /** Removes an original unless it is still in use. */
  release(contentHash: string, isInUse: (reader?: DatabaseReader) => Promise<boolean>): Promise<void>
  /** Throws DamagedOriginalError, or an error with the code ENOENT. */
  read(contentHash: string): Promise<Buffer>
  /** Like `read`, for another process. */
  provide(contentHash: string): Promise<OriginalContent>
  hasAny(): Promise<boolean>
  /** Removes leftovers of a crash: unrecorded and partially written originals. */
  removeUnused(inUse: ReadonlySet<string>, isInUse: (contentHash: string, reader?: DatabaseReader) => Promise<boolean>): Promise<void>
}
