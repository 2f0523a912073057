/** First stage of a sync: stores the new and changed documents of a source and deletes the missing ones. */
import { extname, join } from 'node:path'
import type { SourceType } from '../../../src/contract/schemas/source-configurations.ts'
import { mapConcurrently } from '../../async/map-concurrently.ts'
import type { Outbound } from '../../outbound/client.ts'
import type { Vault } from '../../secrets/vault.ts'
import type { Database } from '../../store/database.ts'
import type { OriginalStore } from '../../store/original-store.ts'
import { getFileType, isContainerType } from '../readers/containers/container-kind.ts'
import { openAuth } from '../source-auth.ts'
import { findDocuments } from '../sources/find-documents.ts'
import type { SourceDocument } from '../sources/source-document.ts'
import { documentRecords, releaseOriginal, type StoredSource } from '../store.ts'
import { ContainerExpander } from './container-expander.ts'
import { type KnownDocument, listKnownDocuments, recordExpansion, setFingerprint, storeDiscovered } from './discovery-store.ts'
import type { ParserPool } from './parser-pool.ts'
import type { ProgressTracker } from './progress-tracker.ts'

const MAX_CONCURRENT_READS = 4
const BATCH_SIZE = 64
/** Of documents that are in memory, because they are part of an archive. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024
/** A folder of photos does not fill the database: further skipped files are not recorded. */
const MAX_SKIPPED_FILES = 10_000

export interface UpdateDependencies {
  database: Database
  originals: OriginalStore
  parserPool: ParserPool
  outbound: Outbound
  vault: Vault
  progress: ProgressTracker
  /** Parent of the work directories of all sources. */
  workDirectory: string
}

export async function updateDocuments(dependencies: UpdateDependencies, source: StoredSource, signal: AbortSignal): Promise<void> {
  const { database, originals, outbound, vault, progress } = dependencies
  const rows = await listKnownDocuments(database, source.id)
  const known = new Map(rows.filter(({ origin }) => origin === 'found').map((row) => [row.name, row]))
  // An uploaded document takes precedence over a discovered one with the same name.
  const sent = new Map(rows.filter(({ origin }) => origin === 'sent').map((row) => [row.name, row]))
  const expander = new ContainerExpander(dependencies.parserPool, source.configuration, known.values())
  const seen = new Set<string>()
  const unreadableFolders: string[] = []
  let skippedCount = 0
  let batch: SourceDocument[] = []
  let batchBytes = 0
  const flush = async () => {
    const sync = (found: SourceDocument) => syncDocument(dependencies, source.id, found, known.get(found.name), signal)
    for await (const _ of mapConcurrently(batch, MAX_CONCURRENT_READS, sync)) signal.throwIfAborted()
    batch = []
    batchBytes = 0
    progress.update(source.id, { documents: seen.size - Math.min(skippedCount, MAX_SKIPPED_FILES) })
  }
  const add = async (found: SourceDocument): Promise<boolean> => {
    if (seen.has(found.name) || sent.has(found.name)) return false
    if (found.skipReason !== undefined && ++skippedCount > MAX_SKIPPED_FILES) return false
    seen.add(found.name)
    batch.push(found)
    batchBytes += found.size ?? 0
    if (batch.length >= BATCH_SIZE || batchBytes >= MAX_BATCH_BYTES) await flush()
    return true
  }
  const workDirectory = join(dependencies.workDirectory, source.id)
  const options = { configuration: source.configuration, auth: openAuth(vault, source), signal, workDirectory, outbound }
  try {
    for (const document of sent.values()) {
      if (!expander.isContainer(document)) continue
      const { name, content_hash } = document
      const container = { name, fingerprint: content_hash, read: () => originals.read(content_hash) }
      const expanded = await expander.expand(container, document, add, signal)
      if (expanded.fingerprint === document.fingerprint) continue
      await flush()
      await database.write((transaction) => recordExpansion(transaction, document, expanded.fingerprint, expanded.problem ?? null))
    }
    for await (const found of findDocuments(source.type as SourceType, options)) {
      if (seen.has(found.name) || sent.has(found.name)) continue
      const isContainer = expander.isContainer(found)
      if (found.problem !== undefined && !isContainerType(getFileType(found.name))) unreadableFolders.push(`${found.name}/`)
      await add(isContainer ? await expander.expand(found, known.get(found.name), add, signal) : found)
    }
  } finally {
    // Documents that were found before the source failed are stored.
    if (!signal.aborted) await flush()
  }
  // Documents in a folder that cannot be read now are kept.
  const missing = [...known.values()].filter(({ name }) => !seen.has(name) && !unreadableFolders.some((folder) => name.startsWith(folder)))
  // Deletes only the records; the next stage removes their passages from the indexes.
  if (missing.length > 0)
    await database.write(async (transaction) => {
      for (const { id } of missing) await documentRecords.delete(transaction, id)
    })
  for (const { content_hash } of missing) await releaseOriginal(originals, database, content_hash)
  progress.countChange(source.id, 'gone', missing.length)
}

async function syncDocument(
  { database, originals, progress }: UpdateDependencies,
  sourceId: string,
  { name, type, fingerprint, metadata = {}, problem, skipReason, read }: SourceDocument,
  known: KnownDocument | undefined,
  signal: AbortSignal,
): Promise<void> {
  // A file that was skipped is read as soon as its type is supported, and one that is no longer read is skipped.
  const wasSkipped = known?.status === 'skipped' && known.content_hash === ''
  const isUnchanged = known?.fingerprint === fingerprint && wasSkipped === (skipReason !== undefined)
  const reason = problem ?? skipReason
  if (isUnchanged && (reason === undefined || known.error === reason)) return
  const fields = { sourceId, name, type: type ?? extname(name).slice(1).toLowerCase(), metadata }
  if (skipReason !== undefined) {
    const skipped = { contentHash: '', size: 0, status: 'skipped' as const, error: skipReason }
    await database.write((transaction) => storeDiscovered(transaction, known, { ...fields, ...skipped, fingerprint }))
    return releaseOriginal(originals, database, known?.content_hash)
  }
  const content = problem === undefined ? await readContent(read, signal) : { problem }
  if ('problem' in content) {
    progress.countChange(sourceId, 'unreadable')
    const failure = { contentHash: '', size: 0, status: 'failed' as const, error: content.problem }
    // Without a fingerprint the next sync tries a failed read again.
    const retryable = { ...fields, ...failure, fingerprint: problem === undefined ? '' : fingerprint }
    await database.write((transaction) => storeDiscovered(transaction, known, retryable))
    return releaseOriginal(originals, database, known?.content_hash)
  }
  let unusedHash: string | undefined
  await originals.keep(content.bytes, (contentHash, confirm) =>
    database.write(async (transaction) => {
      await confirm(transaction)
      if (known && known.content_hash === contentHash && known.status !== 'failed')
        return setFingerprint(transaction, known.id, fingerprint)
      const size = content.bytes.length
      const document = { ...fields, fingerprint, contentHash, size, status: 'waiting' as const, error: null }
      unusedHash = (await storeDiscovered(transaction, known, document)) ? known?.content_hash : contentHash
    }),
  )
  await releaseOriginal(originals, database, unusedHash)
}

async function readContent(read: SourceDocument['read'], signal: AbortSignal): Promise<{ bytes: Uint8Array } | { problem: string }> {
  try {
    return { bytes: await read(signal) }
  } catch (error) {
    signal.throwIfAborted()
    return { problem: (error as Error).message }
  }
}
