/** Stops work when a folder becomes too large. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

const CHECK_MS = 500

/** The signal is aborted when the folder is too large. */
export function limitFolderSize(directory: string, maxBytes: number): { signal: AbortSignal; check(): Promise<void>; close(): void } {
  const stop = new AbortController()
  const check = async () => {
    if ((await measureFolder(directory)) > maxBytes) stop.abort()
  }
  const timer = setInterval(() => void check(), CHECK_MS).unref()
  return { signal: stop.signal, check, close: () => clearInterval(timer) }
}

/** Files that are deleted meanwhile do not count. */
async function measureFolder(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const path = join(directory, entry.name)
      return entry.isDirectory() ? measureFolder(path) : ((await stat(path).catch(() => undefined))?.size ?? 0)
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
