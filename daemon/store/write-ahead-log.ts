/** Flushes SQLite's write-ahead log to disk. */
import { type FileHandle, open } from 'node:fs/promises'

export interface WriteAheadLog {
  /** Resolves when all earlier commits are on disk. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Flushes on a thread of Node's pool. SQLite would block the event loop. */
export function openWriteAheadLog(databasePath: string): WriteAheadLog {
  let file: FileHandle | undefined
  return {
    async flush() {
      // The file exists after the first commit and stays the same until the database is closed. Windows flushes only writable files.
      file ??= await open(`${databasePath}-wal`, 'r+')
      await file.datasync()
    },
    async close() {
      await file?.close()
    },
  }
}
