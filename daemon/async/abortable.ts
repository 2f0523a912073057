/** Makes any promise abortable. */

/** Rejects with the signal's reason once it is aborted, for work that does not listen to the signal itself. */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // The work has been started, even if the signal is already aborted. Nobody waits for it after an abort, and an unhandled rejection would
  // end the daemon.
  work.catch(() => undefined)
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
  })
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
