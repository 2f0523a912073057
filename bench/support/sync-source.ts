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

const POLL_INTERVAL_MS = 25
/** Each request takes processor time from the sync. */
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
  await request(daemon, 'POST', `/api/knowledge-sources/${sourceId}/sync`)
  const read = async () => {
    const { data } = await request<SourceResponse>(daemon, 'GET', `/api/knowledge-sources/${sourceId}`)
    if (data.status === 'error') throw new Error(`The sync failed: ${data.error}`)
    return { ...data, ms: performance.now() - startedAt }
  }
  const wait = (isReached: (source: Awaited<ReturnType<typeof read>>) => boolean, intervalMs: number) => {
    const find = async () => {
      const source = await read()
      return isReached(source) ? source : undefined
    }
    return waitFor(find, { intervalMs, timeoutMs: SYNC_TIMEOUT_MS, description: `the sync of ${sourceId}` })
  }
  const isSynced = ({ status }: { status: string }) => status === 'active'
  const searchable = await wait((source) => isSynced(source) || source.progress?.stage === 'embedding', POLL_INTERVAL_MS)
  const synced = isSynced(searchable) ? searchable : await wait(isSynced, END_POLL_INTERVAL_MS)
  return { searchableMs: searchable.ms, totalMs: synced.ms, chunks: synced.statistics.chunks }
}

/** Creates a source and syncs it. */
export async function createSyncedSource(daemon: DaemonProcess, name: string, documents: readonly SourceDocument[]): Promise<string> {
  const source = await createSource(daemon, name, documents)
  await measureSync(daemon, source)
  return source
}
