/** Brings the documents of a source in line with where they come from: what is new or changed is kept, what is gone goes. */
import { extname, join } from 'node:path'
import type { SourceType } from '../../../src/contract/families/knowledge-sources.ts'
import { concurrently } from '../../async/map-concurrently.ts'
import type { Outbound } from '../../outbound/client.ts'
import type { Vault } from '../../secrets/vault.ts'
import type { Database } from '../../store/database.ts'
import type { Originals } from '../../store/documents.ts'
import { openAuth } from '../source-auth.ts'
import { findDocuments, type SourceDocument } from '../sources/find-documents.ts'
import { documentRecords, isContentInUse, type StoredSource } from '../store.ts'
import { type KnownDocument, listKnownDocuments, setFingerprint, storeDiscovered } from './discovery-store.ts'
import type { ProgressTracker } from './progress-tracker.ts'

const MAX_CONCURRENT_READS = 4
const BATCH_SIZE = 64

export interface DiscoveryDependencies {
  database: Database
  originals: Originals
  outbound: Outbound
  vault: Vault
  progress: ProgressTracker
  /** Where each source has a directory of its own. */
  workDirectory: string
}

export async function discoverDocuments(discovery: DiscoveryDependencies, source: StoredSource, signal: AbortSignal): Promise<void> {
  const { database, outbound, progress } = discovery
  const rows = await listKnownDocuments(database, source.id)
  const known = new Map(rows.filter(({ origin }) => origin === 'found').map((row) => [row.name, row]))
  /** What was sent under a name is the document of that name, whatever else is found under it. */
  const sent = new Set(rows.filter(({ origin }) => origin === 'sent').map(({ name }) => name))
  const seen = new Set<string>()
  /** Folders that cannot be looked into now: what is below them is not gone. */
  const unreadable: string[] = []
  let waiting: SourceDocument[] = []
  const take = async () => {
    for await (const _ of concurrently(waiting, MAX_CONCURRENT_READS, (found) =>
      syncDocument(discovery, source.id, found, known.get(found.name), signal),
    ))
      signal.throwIfAborted()
    waiting = []
    progress.update(source.id, { documents: seen.size })
  }
  const auth = openAuth(discovery.vault, source)
  const options = { configuration: source.configuration, auth, signal, workDirectory: join(discovery.workDirectory, source.id), outbound }
  try {
    for await (const found of findDocuments(source.type as SourceType, options)) {
      if (seen.has(found.name) || sent.has(found.name)) continue
      seen.add(found.name)
      if (found.problem !== undefined) unreadable.push(`${found.name}/`)
      waiting.push(found)
      if (waiting.length >= BATCH_SIZE) await take()
    }
  } finally {
    // A source that fails at its end has still shown what it has.
    if (!signal.aborted) await take()
  }
  const gone = ({ name }: KnownDocument) => !seen.has(name) && !unreadable.some((folder) => name.startsWith(folder))
  const missing = [...known.values()].filter(gone)
  await deleteDocuments(discovery, missing)
  progress.countChange(source.id, 'gone', missing.length)
}

async function syncDocument(
  { database, originals, progress }: DiscoveryDependencies,
  sourceId: string,
  found: SourceDocument,
  known: KnownDocument | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (known && known.fingerprint === found.fingerprint && (found.problem === undefined || known.error === found.problem)) return
  const content = found.problem === undefined ? await readContent(found, signal) : { problem: found.problem }
  // What could not be read just now may be readable the next time, though it looks the same.
  if ('problem' in content) {
    progress.countChange(sourceId, 'unreadable')
    await storeFailure(database, sourceId, found.problem === undefined ? { ...found, fingerprint: '' } : found, known, content.problem)
    return releaseOriginal(originals, database, known?.content_hash)
  }
  let unused: string | undefined
  await originals.keep(content.bytes, (contentHash) =>
    database.write(async (transaction) => {
      if (known && known.content_hash === contentHash && known.status !== 'failed') {
        await setFingerprint(transaction, known.id, found.fingerprint)
        return
      }
      const stored = await storeDiscovered(transaction, known, {
        ...toDocumentFields(sourceId, found),
        contentHash,
        size: content.bytes.length,
        status: 'waiting',
        error: null,
      })
      unused = stored ? known?.content_hash : contentHash
    }),
  )
  await releaseOriginal(originals, database, unused)
}

async function releaseOriginal(originals: Originals, database: Database, contentHash: string | undefined): Promise<void> {
  if (contentHash) await originals.release(contentHash, () => isContentInUse(database, contentHash))
}

async function readContent(found: SourceDocument, signal: AbortSignal): Promise<{ bytes: Uint8Array } | { problem: string }> {
  try {
    return { bytes: await found.read(signal) }
  } catch (error) {
    signal.throwIfAborted()
    return { problem: (error as Error).message }
  }
}

async function storeFailure(
  database: Database,
  sourceId: string,
  found: SourceDocument,
  known: KnownDocument | undefined,
  problem: string,
): Promise<void> {
  await database.write(async (transaction) => {
    await storeDiscovered(transaction, known, {
      ...toDocumentFields(sourceId, found),
      contentHash: '',
      size: 0,
      status: 'failed',
      error: problem,
    })
  })
}

function toDocumentFields(sourceId: string, { name, type, fingerprint, metadata = {} }: SourceDocument) {
  return { sourceId, name, type: type ?? extname(name).slice(1).toLowerCase(), fingerprint, metadata }
}

/** What is no longer there is forgotten: its record now, its passages with the next stage. */
async function deleteDocuments({ database, originals }: DiscoveryDependencies, gone: readonly KnownDocument[]): Promise<void> {
  if (gone.length === 0) return
  await database.write(async (transaction) => {
    for (const { id } of gone) await documentRecords.delete(transaction, id)
  })
  for (const { content_hash } of gone) await releaseOriginal(originals, database, content_hash)
}
