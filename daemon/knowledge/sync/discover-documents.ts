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
import { documentRecords, hashInUse, type StoredSource } from '../store.ts'
import { type KnownDocument, knownDocuments, setFingerprint, storeFound } from './discovered-store.ts'
import type { ProgressBoard } from './progress.ts'

const AT_ONCE = 4
const A_TIME = 64

export interface Discovery {
  database: Database
  originals: Originals
  outbound: Outbound
  vault: Vault
  progress: ProgressBoard
  /** Where each source has a directory of its own. */
  work: string
}

export async function discover(discovery: Discovery, source: StoredSource, signal: AbortSignal): Promise<void> {
  const { database, outbound, progress } = discovery
  const rows = await knownDocuments(database, source.id)
  const known = new Map(rows.filter(({ origin }) => origin === 'found').map((row) => [row.name, row]))
  /** What was sent under a name is the document of that name, whatever else is found under it. */
  const sent = new Set(rows.filter(({ origin }) => origin === 'sent').map(({ name }) => name))
  const seen = new Set<string>()
  /** Folders that cannot be looked into now: what is below them is not gone. */
  const unreadable: string[] = []
  let waiting: SourceDocument[] = []
  const take = async () => {
    for await (const _ of concurrently(waiting, AT_ONCE, (found) => keep(discovery, source.id, found, known.get(found.name), signal)))
      signal.throwIfAborted()
    waiting = []
    progress.update(source.id, { documents: seen.size })
  }
  const auth = openAuth(discovery.vault, source)
  const options = { configuration: source.configuration, auth, signal, workDirectory: join(discovery.work, source.id), outbound }
  try {
    for await (const found of findDocuments(source.type as SourceType, options)) {
      if (seen.has(found.name) || sent.has(found.name)) continue
      seen.add(found.name)
      if (found.problem !== undefined) unreadable.push(`${found.name}/`)
      waiting.push(found)
      if (waiting.length >= A_TIME) await take()
    }
  } finally {
    // A source that fails at its end has still shown what it has.
    if (!signal.aborted) await take()
  }
  const gone = ({ name }: KnownDocument) => !seen.has(name) && !unreadable.some((folder) => name.startsWith(folder))
  const missing = [...known.values()].filter(gone)
  await bury(discovery, missing)
  progress.count(source.id, 'gone', missing.length)
}

async function keep(
  { database, originals, progress }: Discovery,
  sourceId: string,
  found: SourceDocument,
  known: KnownDocument | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (known && known.fingerprint === found.fingerprint && (found.problem === undefined || known.error === found.problem)) return
  const content = found.problem === undefined ? await readNow(found, signal) : { problem: found.problem }
  // What could not be read just now may be readable the next time, though it looks the same.
  if ('problem' in content) {
    progress.count(sourceId, 'unreadable')
    await refuse(database, sourceId, found.problem === undefined ? { ...found, fingerprint: '' } : found, known, content.problem)
    return release(originals, database, known?.content_hash)
  }
  let unused: string | undefined
  await originals.keep(content.bytes, (contentHash) =>
    database.write(async (transaction) => {
      if (known && known.content_hash === contentHash && known.status !== 'failed') {
        await setFingerprint(transaction, known.id, found.fingerprint)
        return
      }
      const stored = await storeFound(transaction, known, {
        ...about(sourceId, found),
        contentHash,
        size: content.bytes.length,
        status: 'waiting',
        error: null,
      })
      unused = stored ? known?.content_hash : contentHash
    }),
  )
  await release(originals, database, unused)
}

async function release(originals: Originals, database: Database, contentHash: string | undefined): Promise<void> {
  if (contentHash) await originals.release(contentHash, () => hashInUse(database, contentHash))
}

async function readNow(found: SourceDocument, signal: AbortSignal): Promise<{ bytes: Uint8Array } | { problem: string }> {
  try {
    return { bytes: await found.read(signal) }
  } catch (error) {
    signal.throwIfAborted()
    return { problem: (error as Error).message }
  }
}

async function refuse(
  database: Database,
  sourceId: string,
  found: SourceDocument,
  known: KnownDocument | undefined,
  problem: string,
): Promise<void> {
  await database.write(async (transaction) => {
    await storeFound(transaction, known, { ...about(sourceId, found), contentHash: '', size: 0, status: 'failed', error: problem })
  })
}

function about(sourceId: string, { name, type, fingerprint, metadata = {} }: SourceDocument) {
  return { sourceId, name, type: type ?? extname(name).slice(1).toLowerCase(), fingerprint, metadata }
}

/** What is no longer there is forgotten: its record now, its passages with the next stage. */
async function bury({ database, originals }: Discovery, gone: readonly KnownDocument[]): Promise<void> {
  if (gone.length === 0) return
  await database.write(async (transaction) => {
    for (const { id } of gone) await documentRecords.delete(transaction, id)
  })
  for (const { content_hash } of gone) await release(originals, database, content_hash)
}
