/** Waits for leases. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Leases } from './cluster.ts'

/** Runs the work while no other daemon does work of this name. */
export async function holdLease<T>(leases: Leases, name: string, work: () => Promise<T>): Promise<T> {
  await waitForLease(leases, name)
  try {
    return await work()
  } finally {
    await leases.release(name)
  }
}

export async function waitForLease(leases: Leases, name: string): Promise<void> {
  for (let delay = 20; !(await leases.claim(name)); delay = Math.min(2 * delay, 1_000)) await pause(delay)
}
