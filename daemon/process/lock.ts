/** One daemon a home: a lock that the kernel holds for this process and takes back however the process ends. */
import Database from 'libsql'

export interface ProcessLock {
  release(): void
}

/**
 * Takes the lock, or returns undefined at once when another process holds it.
 *
 * SQLite does the locking because it does so on every platform. It has a file of its own, so that `cadre.db` stays open
 * to backups. An IMMEDIATE transaction rather than an EXCLUSIVE one: it takes a single lock in a single step, where the
 * several steps of the other let simultaneous starters all turn each other away.
 *
 * Nobody else in this process may open the file: POSIX drops a process's locks when it closes any descriptor of it.
 */
export function acquireLock(path: string): ProcessLock | undefined {
  const database = new Database(path, { timeout: 0 })
  try {
    // In memory, so that a killed holder leaves no journal for the next one to recover.
    database.exec('PRAGMA journal_mode = MEMORY')
    database.exec('BEGIN IMMEDIATE')
  } catch (error) {
    database.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return undefined
    throw new Error(`The lock ${path} cannot be taken: ${(error as Error).message}`, { cause: error })
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
