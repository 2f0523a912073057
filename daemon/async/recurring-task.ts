/** Repeats work at an interval. A run starts only after the previous one has ended. */
import type { Clock } from './clock.ts'

/** `work` handles its own errors. Its signal is aborted when the task is closed. */
export function createRecurringTask(clock: Clock, intervalMs: number, work: (signal: AbortSignal) => Promise<void>) {
  const closing = new AbortController()
  let cancelTimer = () => {}
  let lastRun = Promise.resolve()

  /** Runs the work now and then at each interval. */
  function start(): void {
    const { signal } = closing
    if (signal.aborted) return
    lastRun = lastRun.then(() => work(signal))
    cancelTimer = clock.schedule(intervalMs, () => start())
  }

  /** Waits for the current run. */
  async function close(): Promise<void> {
    closing.abort()
    cancelTimer()
    await lastRun
  }

  return { start, close }
}
