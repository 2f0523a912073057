/** Waiting that can be given up. */

/** What does not listen to the signal itself is not waited for once that is aborted; the signal's reason is thrown then. */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
  })
  work.catch(() => undefined) // when it is not waited for any more
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
