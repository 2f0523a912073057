/** Documents sent to a daemon and synchronized, with the moments that matter. */
import type { DaemonProcess } from '../../test/harness/daemon.ts'
import { request } from './daemon.ts'

interface SourceResponse {
  data: {
    id: string
    status: string
    error: string | null
    progress: { stage: string } | null
    statistics: { failed: number; chunks: number }
  }
}

export interface SyncTimes {
  /** Until every text could be found by its words. */
  searchableMs: number
  totalMs: number
  chunks: number
}

const POLL_INTERVAL_MS = 25

export async function createSource(
  daemon: DaemonProcess,
  name: string,
  documents: readonly { id: string; text: string }[],
): Promise<string> {
  const { data } = await request<SourceResponse>(daemon, 'POST', '/api/knowledge-sources', { name, type: 'file' })
  for (const { id, text } of documents)
    await request(daemon, 'POST', `/api/knowledge-sources/${data.id}/documents`, { name: `${id}.md`, content: text })
  return data.id
}

export async function measureSync(daemon: DaemonProcess, sourceId: string): Promise<SyncTimes> {
  const began = performance.now()
  let searchableMs = Number.NaN
  await request(daemon, 'POST', `/api/knowledge-sources/${sourceId}/sync`)
  for (;;) {
    const { data } = await request<SourceResponse>(daemon, 'GET', `/api/knowledge-sources/${sourceId}`)
    const now = performance.now() - began
    if (Number.isNaN(searchableMs) && (data.progress?.stage === 'embedding' || data.status === 'active')) searchableMs = now
    if (data.status === 'error') throw new Error(`The synchronization failed: ${data.error}`)
    if (data.status === 'active') return { searchableMs, totalMs: now, chunks: data.statistics.chunks }
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
  }
}

/** A source of these documents, ready to be searched. */
export async function createSyncedSource(
  daemon: DaemonProcess,
  name: string,
  documents: readonly { id: string; text: string }[],
): Promise<string> {
  const source = await createSource(daemon, name, documents)
  await measureSync(daemon, source)
  return source
}
