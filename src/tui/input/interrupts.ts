/** Replaces what Ctrl+C does while something runs. */

/** Without this, the handler of the CLI would end the process. */
export async function replaceInterruptHandlers<T>(handler: () => void, work: () => Promise<T>): Promise<T> {
  const listeners = process.listeners('SIGINT')
  process.removeAllListeners('SIGINT').on('SIGINT', handler)
  try {
    return await work()
  } finally {
    process.off('SIGINT', handler)
    for (const listener of listeners) process.on('SIGINT', listener)
  }
}
