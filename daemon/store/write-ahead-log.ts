/** The file in which SQLite's commits stand first, and how they get from the system's memory to the disk. */
import { type FileHandle, open } from 'node:fs/promises'

export interface WriteAheadLog {
  /** Resolves when all that was committed before is on disk. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** It waits in a thread of its own, so the event loop goes on meanwhile; SQLite would wait on the loop. */
export function openWriteAheadLog(databasePath: string): WriteAheadLog {
  let file: FileHandle | undefined
  return {
    async flush() {
      // There once something was committed, and the same file until the database is closed. Windows flushes only what may be written.
      file ??= await open(`${databasePath}-wal`, 'r+')
      await file.datasync()
    },
    async close() {
      await file?.close()
    },
  }
}
