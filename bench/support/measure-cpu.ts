/** Measures the CPU time of work. */

/** Returns the CPU time of the process in milliseconds. */
export async function measureCpu(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
