/** Creates knowledge sources with documents and measures their syncs. */
import type { DaemonProcess } from '../../test/harness/daemon.ts'
import { waitFor } from '../../test/harness/wait-for.ts'
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

export interface SourceDocument {
  id: string
  text: string
  /** Default: the id with .md. */
  name?: string
}

export interface SyncTimes {
  /** Until full-text search covers all documents. */
  searchableMs: number
  totalMs: number
  chunks: number
}

/** Each request takes time from the sync, so that the end of one that takes long is not looked for as often as the end of its first stage. */
const POLL_INTERVAL_MS = 25
const END_POLL_INTERVAL_MS = 100
const SYNC_TIMEOUT_MS = 3_600_000

export async function createSource(daemon: DaemonProcess, name: string, documents: readonly SourceDocument[]): Promise<string> {
  const { data } = await request<SourceResponse>(daemon, 'POST', '/api/knowledge-sources', { name, type: 'file' })
  for (const { id, text, name: file = `${id}.md` } of documents)
    await request(daemon, 'POST', `/api/knowledge-sources/${data.id}/documents`, { name: file, content: text, index: false })
  return data.id
}

export async function measureSync(daemon: DaemonProcess, sourceId: string): Promise<SyncTimes> {
  const startedAt = performance.now()
  let searchableMs = Number.NaN
  await request(daemon, 'POST', `/api/knowledge-sources/${sourceId}/sync`)
  const findSynced = async () => {
    const { data } = await request<SourceResponse>(daemon, 'GET', `/api/knowledge-sources/${sourceId}`)
    const now = performance.now() - startedAt
    if (Number.isNaN(searchableMs) && (data.progress?.stage === 'embedding' || data.status === 'active')) searchableMs = now
    if (data.status === 'error') throw new Error(`The sync failed: ${data.error}`)
    if (data.status === 'active') return { searchableMs, totalMs: now, chunks: data.statistics.chunks }
    return undefined
  }
  return waitFor(findSynced, { intervalMs: POLL_INTERVAL_MS, timeoutMs: SYNC_TIMEOUT_MS, description: `the sync of ${sourceId}` })
}

/** Creates a source and syncs it. */
export async function createSyncedSource(daemon: DaemonProcess, name: string, documents: readonly SourceDocument[]): Promise<string> {
  const source = await createSource(daemon, name, documents)
  await measureSync(daemon, source)
  return source
}
