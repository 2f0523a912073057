/** Limits how many folders the daemon watches: Linux has one limit for all programs of a user, and editors need some of it. */
import { readFileSync } from 'node:fs'

const LIMIT_FILE = '/proc/sys/fs/inotify/max_user_watches'
/** Each watch needs about 2 KB. */
const MAX_WATCHES = 16_384

export class WatchBudget {
  readonly limit: number
  #used = 0

  constructor(limit: number = readLimit()) {
    this.limit = limit
  }

  /** Returns false if no watch is left. */
  take(): boolean {
    if (this.#used >= this.limit) return false
    this.#used++
    return true
  }

  release(): void {
    this.#used--
  }
}

/** Uses half of the limit of the system. */
function readLimit(): number {
  try {
    const systemLimit = Number.parseInt(readFileSync(LIMIT_FILE, 'utf8'), 10)
    return systemLimit > 0 ? Math.min(MAX_WATCHES, Math.floor(systemLimit / 2)) : MAX_WATCHES
  } catch {
    return MAX_WATCHES // not Linux: one watch covers a folder with all of its subfolders
  }
}
