/** Ensures one daemon per home with a kernel lock, which is released however the process ends. */
import Database from 'libsql'

interface ProcessLock {
  release(): void
}

/**
 * Acquires the lock, or returns undefined immediately if another process holds it.
 *
 * SQLite provides the lock because its locking works on every platform. A separate file keeps `cadre.db` available to
 * backups. BEGIN IMMEDIATE takes one lock in one step; with EXCLUSIVE, simultaneous starters can all reject each other.
 *
 * Nothing else in this process may open the file: POSIX drops a process's locks when any descriptor of it is closed.
 */
export function acquireLock(path: string): ProcessLock | undefined {
  const database = new Database(path, { timeout: 0 })
  try {
    // In memory, so that a killed process leaves no journal to recover.
    database.exec('PRAGMA journal_mode = MEMORY')
    database.exec('BEGIN IMMEDIATE')
  } catch (error) {
    database.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return undefined
    throw new Error(`Cannot acquire the lock ${path}: ${(error as Error).message}`, { cause: error })
  }
  let held = true
  return {
    release() {
      if (!held) return
      held = false
      database.close()
    },
  }
}
