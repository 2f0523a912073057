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
  const database = openLockFile(path)
  try {
    // In memory, so that a killed process leaves no journal to recover.
    database.exec('PRAGMA journal_mode = MEMORY')
    database.exec('BEGIN IMMEDIATE')
  } catch (error) {
    database.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return undefined
    throw explainError(path, error)
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

function openLockFile(path: string): InstanceType<typeof Database> {
  try {
    return new Database(path, { timeout: 0 })
  } catch (error) {
    throw explainError(path, error)
  }
}

/** The file is always empty, so nothing is lost with it. If a daemon runs, a new file would let a second one start. */
function explainError(path: string, error: unknown): Error {
  const { code = '', message } = error as { code?: string; message: string }
  const problem = /^SQLITE_(NOTADB|CORRUPT)/.test(code)
    ? `The lock file ${path} is damaged.`
    : `Cannot acquire the lock ${path}: ${message}.`
  const hint = 'It contains no data. If a daemon of this home runs, stop it (cadre daemon stop); then delete the file and start again.'
  return new Error(`${problem}\n${hint}`, { cause: error })
}
