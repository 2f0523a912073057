/** Measures how much longer work takes because others use the cores. */
import { setTimeout as pause } from 'node:timers/promises'

const SAMPLES = 20
const SAMPLE_MS = 20
const PAUSE_MS = 100

/** Returns 1 on a machine without other work, and 4 if a quarter of a core is left. */
export async function measureContention(): Promise<number> {
  let wallMs = 0
  for (let sample = 0; sample < SAMPLES; sample++) {
    const startedAt = performance.now()
    const before = process.cpuUsage()
    let used = 0
    while (used < SAMPLE_MS) {
      const { user, system } = process.cpuUsage(before)
      used = (user + system) / 1_000
    }
    wallMs += performance.now() - startedAt
    await pause(PAUSE_MS)
  }
  return Math.max(1, wallMs / (SAMPLES * SAMPLE_MS))
}
