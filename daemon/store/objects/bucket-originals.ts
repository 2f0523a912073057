/**
 * Stores the originals of documents in a bucket, for several daemons. A daemon that was suspended may delete an object long after
 * it decided to. Each removal is therefore counted in the database, and content that is stored again gets a new key.
 */
import { hash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Database, DatabaseReader } from '../database.ts'
import { type ConfirmOriginal, DamagedOriginalError, type OriginalStore } from '../original-store.ts'
import type { DiskCache } from './disk-cache.ts'
import type { S3Client } from './s3-client.ts'
import { StorageUnreachableError } from './storage-errors.ts'

export const ORIGINALS_PREFIX = 'documents/'

/** A suspended daemon may delete an object late, but not this late. */
const REMOVAL_RETENTION_SECONDS = 30 * 24 * 60 * 60

/** The original was removed between its upload and its recording. */
class RemovedMeanwhileError extends Error {}

export class BucketOriginals implements OriginalStore {
  readonly isRemote = true
  readonly #client: S3Client
  readonly #cache: DiskCache
  readonly #database: Database

  constructor(client: S3Client, cache: DiskCache, database: Database) {
    this.#client = client
    this.#cache = cache
    this.#database = database
  }

  async keep<T>(bytes: Uint8Array, record: (contentHash: string, confirm: ConfirmOriginal) => Promise<T>): Promise<T> {
    const contentHash = hash('sha256', bytes, 'hex')
    for (;;) {
      const removals = await countRemovals(this.#database, contentHash)
      await this.#client.put(formatKey(contentHash, removals), bytes)
      await this.#writeCopy(contentHash, bytes)
      try {
        return await record(contentHash, async (transaction) => {
          if ((await countRemovals(transaction, contentHash)) !== removals) throw new RemovedMeanwhileError()
        })
      } catch (error) {
        if (!(error instanceof RemovedMeanwhileError)) throw error
      }
    }
  }

  /** Backups do not contain the bucket. */
  hold(): () => Promise<void> {
    return async () => undefined
  }

  async release(contentHash: string, isInUse: (reader?: DatabaseReader) => Promise<boolean>): Promise<void> {
    const removals = await this.#database.write(async (transaction) => {
      if (await isInUse(transaction)) return undefined
      const removals = await countRemovals(transaction, contentHash)
      const sql = `INSERT INTO original_removals (content_hash, removals, removed_at) VALUES (?, 1, unixepoch())
        ON CONFLICT DO UPDATE SET removals = removals + 1, removed_at = excluded.removed_at`
      await transaction.run(sql, [contentHash])
      return removals
    })
    if (removals === undefined) return
    await this.#cache.remove(formatCopyName(contentHash))
    await this.#client.delete(formatKey(contentHash, removals)).catch((error: unknown) => {
      if (!(error instanceof StorageUnreachableError)) throw error // otherwise removeUnused() deletes it
    })
  }

  async read(contentHash: string): Promise<Buffer> {
    const copy = await this.#readCopy(contentHash)
    if (copy) return copy
    const bytes = await this.#client.get(formatKey(contentHash, await countRemovals(this.#database, contentHash)))
    if (!bytes) throw Object.assign(new Error(`The original ${contentHash} is missing.`), { code: 'ENOENT' })
    if (hash('sha256', bytes, 'hex') !== contentHash) throw new DamagedOriginalError()
    await this.#writeCopy(contentHash, bytes)
    return bytes
  }

  /** A local copy may be removed at any time. */
  provide(contentHash: string): Promise<Buffer> {
    return this.read(contentHash)
  }

  async hasAny(): Promise<boolean> {
    for await (const _ of this.#client.list(ORIGINALS_PREFIX, 1)) return true
    return false
  }

  async removeUnused(
    inUse: ReadonlySet<string>,
    isInUse: (contentHash: string, reader?: DatabaseReader) => Promise<boolean>,
  ): Promise<void> {
    const counted = await this.#database.all<{ content_hash: string; removals: number; removed_at: number }>(
      'SELECT * FROM original_removals',
    )
    const current = new Map(counted.map(({ content_hash, removals }) => [content_hash, removals]))
    const stored = new Set<string>()
    for await (const { key } of this.#client.list(ORIGINALS_PREFIX)) {
      const [contentHash = '', removals = '0'] = key.slice(key.lastIndexOf('/') + 1).split('.')
      stored.add(contentHash)
      if (Number(removals) < (current.get(contentHash) ?? 0)) await this.#client.delete(key)
      else if (!inUse.has(contentHash)) await this.release(contentHash, (reader) => isInUse(contentHash, reader))
    }
    const sql = `DELETE FROM original_removals WHERE content_hash = ? AND removed_at < unixepoch() - ${REMOVAL_RETENTION_SECONDS}`
    for (const { content_hash, removed_at } of counted)
      if (removed_at < Date.now() / 1000 - REMOVAL_RETENTION_SECONDS && !stored.has(content_hash))
        await this.#database.write(async (transaction) => {
          if (!(await isInUse(content_hash, transaction))) await transaction.run(sql, [content_hash])
        })
  }

  /** A copy that cannot be written, for example on a full disk, is not needed. */
  async #writeCopy(contentHash: string, bytes: Uint8Array): Promise<void> {
    const name = formatCopyName(contentHash)
    if (bytes.length > this.#cache.maxBytes) return
    const path = this.#cache.getPath(name)
    const partial = `${path}.${randomUUID()}`
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writeFile(partial, bytes, { mode: 0o600 })
      await rename(partial, path)
      await this.#cache.use(name, bytes.length)
    } catch {
      await rm(partial, { force: true })
    }
  }

  async #readCopy(contentHash: string): Promise<Buffer | undefined> {
    const name = formatCopyName(contentHash)
    if (!this.#cache.has(name)) return undefined
    const path = this.#cache.getPath(name)
    const bytes = await readFile(path).catch(() => undefined) // removed meanwhile
    if (!bytes || hash('sha256', bytes, 'hex') !== contentHash) return undefined
    await this.#cache.use(name)
    await utimes(path, new Date(), new Date()).catch(() => undefined) // removed meanwhile
    return bytes
  }
}

async function countRemovals(reader: DatabaseReader, contentHash: string): Promise<number> {
  const sql = 'SELECT removals FROM original_removals WHERE content_hash = ?'
  return (await reader.get<{ removals: number }>(sql, [contentHash]))?.removals ?? 0
}

const formatCopyName = (contentHash: string) => `documents/${contentHash}`

export const formatKey = (contentHash: string, removals = 0) =>
  `${ORIGINALS_PREFIX}${contentHash.slice(0, 2)}/${contentHash}${removals === 0 ? '' : `.${removals}`}`
