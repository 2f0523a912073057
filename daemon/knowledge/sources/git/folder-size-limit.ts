/** Stops work when a folder becomes too large. */
import { measureSize } from '../../../store/files/measure-size.ts'

const CHECK_MS = 500

/** The signal is aborted when the folder is too large. */
export function limitFolderSize(directory: string, maxBytes: number): { signal: AbortSignal; check(): Promise<void>; close(): void } {
  const stop = new AbortController()
  const check = async () => {
    if ((await measureSize(directory)) > maxBytes) stop.abort()
  }
  const timer = setInterval(() => void check(), CHECK_MS).unref()
  return { signal: stop.signal, check, close: () => clearInterval(timer) }
}
