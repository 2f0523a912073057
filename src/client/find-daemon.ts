/** Finds the daemon that runs: whether it responds, and whether it is that of this home. */
import type { DaemonRecord, Paths } from '../config.ts'
import type { Health } from '../contract/families/system.ts'
import { readDaemonSecret } from '../daemon-proof.ts'
import { version } from '../version.ts'
import { findDaemonProcess } from './address.ts'
import { type Connection, fetchJson } from './request.ts'
import { VerifyingAgent } from './verify-daemon.ts'

export async function fetchHealth(url: string, agent?: Connection['agent']): Promise<Health | undefined> {
  try {
    const body = (await fetchJson({ url, token: undefined, agent }, '/api/health', 5_000)) as Partial<Health>
    return typeof body.version === 'string' && typeof body.status === 'string' ? (body as Health) : undefined
  } catch {
    return undefined // refused, timed out, or not a Cadre daemon
  }
}

/** Returns the health of the daemon that wrote daemon.json. Undefined if it does not respond, or if another program does. */
export async function fetchDaemonHealth(paths: Paths, { url }: DaemonRecord): Promise<Health | undefined> {
  if (readDaemonSecret(paths, url) !== undefined) return fetchHealth(url, new VerifyingAgent(paths, url))
  // Version 0.1 cannot prove anything. It is replaced, and no token is sent to it.
  const health = await fetchHealth(url)
  return health?.version === version ? undefined : health
}

/** Returns the daemon of this home if it runs and responds. */
export async function findRunningDaemon(paths: Paths): Promise<DaemonRecord | undefined> {
  const record = findDaemonProcess(paths)
  const health = record && (await fetchDaemonHealth(paths, record))
  return record && health ? { ...record, version: health.version } : undefined
}
