/** Timeouts of the product that users cannot set, for tests that wait until one passes. */

/** Multiplies them in this process while the work runs. Commands and daemons inherit CADRE_TIMEOUT_FACTOR when they start. */
export async function withTimeoutFactor<T>(factor: number, work: () => Promise<T>): Promise<T> {
  const before = process.env.CADRE_TIMEOUT_FACTOR
  process.env.CADRE_TIMEOUT_FACTOR = String(factor)
  try {
    return await work()
  } finally {
    process.env.CADRE_TIMEOUT_FACTOR = before ?? '1'
  }
}
