/** Stops work when a folder becomes too large. */
import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

const CHECK_MS = 500

export class FolderSizeLimit {
  readonly #directory: string
  readonly #maxBytes: number
  readonly #stop = new AbortController()
  readonly #timer: NodeJS.Timeout

  constructor(directory: string, maxBytes: number) {
    this.#directory = directory
    this.#maxBytes = maxBytes
    this.#timer = setInterval(() => void this.check(), CHECK_MS).unref()
  }

  /** Aborted when the folder is too large. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  async check(): Promise<void> {
    if ((await measureFolder(this.#directory)) > this.#maxBytes) this.#stop.abort()
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** Files that are deleted meanwhile do not count. */
async function measureFolder(directory: string): Promise<number> {
  const entries: Dirent[] = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const path = join(directory, entry.name)
      return entry.isDirectory() ? measureFolder(path) : ((await stat(path).catch(() => undefined))?.size ?? 0)
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
