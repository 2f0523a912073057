/**
 * A copy of a table on the local disk, from which queries are answered. LanceDB never changes a file that it has written, so that only
 * new files are downloaded, and the manifest of a version last.
 */
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { listFiles } from '../files/list-files.ts'
import type { Table } from '../lance.ts'
import type { DiskCache } from './disk-cache.ts'
import type { S3Client, StoredObject } from './s3-client.ts'

/** A commit is visible after this time and the time of a request. */
const MAX_AGE_MS = 1_000
/** If a download takes longer, queries read the bucket meanwhile. */
const MAX_WAIT_MS = 500
const MAX_CONCURRENT_DOWNLOADS = 8
/** Only writers use them. */
const UNUSED_FOLDER = '_transactions/'

interface MirrorOptions {
  client: S3Client
  cache: DiskCache
  /** The key of the table, with a slash at the end. */
  prefix: string
  /** The name of the copy in the cache. */
  copyName: string
  /** Opens the copy. */
  openCopy(): Promise<Table>
}

export class TableMirror {
  readonly #options: MirrorOptions
  /** The manifest of the version that the copy has. */
  #version: string | undefined
  #table: Table | undefined
  #checkedAt = Number.NEGATIVE_INFINITY
  #updating: Promise<void> | undefined

  constructor(options: MirrorOptions) {
    this.#options = options
  }

  /** Returns undefined if the table does not exist, does not fit in the cache, or is still being downloaded. */
  async open(): Promise<Table | undefined> {
    const { cache, copyName } = this.#options
    if (performance.now() - this.#checkedAt > MAX_AGE_MS || (this.#table && !cache.has(copyName))) {
      this.#updating ??= this.#update().finally(() => {
        this.#updating = undefined
      })
      const isLate = await Promise.race([this.#updating.then(() => false), pause(MAX_WAIT_MS, true, { ref: false })])
      if (isLate) {
        this.#updating?.catch(() => undefined) // the next query tries again
        return undefined
      }
    }
    if (this.#table) await cache.use(copyName)
    return this.#table
  }

  /** Makes the next query look for commits. */
  expire(): void {
    this.#checkedAt = Number.NEGATIVE_INFINITY
  }

  async #update(): Promise<void> {
    const { client, cache, prefix, copyName } = this.#options
    const startedAt = performance.now()
    // The names of manifests sort the newest first.
    let latest: StoredObject | undefined
    for await (const manifest of client.list(`${prefix}_versions/`, 1)) latest = manifest
    const version = latest && `${latest.key} ${latest.etag}`
    if (version !== this.#version || !cache.has(copyName)) {
      this.#table = undefined
      this.#version = undefined
      if (latest && (await this.#download(latest))) {
        this.#table = await this.#options.openCopy()
        this.#version = version
      }
    }
    this.#checkedAt = startedAt
  }

  /** Files are listed after the manifest, so that none of its files is missing. Returns false if the table is too large. */
  async #download(manifest: StoredObject): Promise<boolean> {
    const { client, cache, prefix, copyName } = this.#options
    const folder = cache.getPath(copyName)
    const files: StoredObject[] = []
    for await (const file of client.list(prefix)) {
      const name = file.key.slice(prefix.length)
      if (!name.startsWith(UNUSED_FOLDER) && !name.startsWith('_versions/')) files.push(file)
    }
    const size = files.reduce((sum, file) => sum + file.size, manifest.size)
    if (size > cache.maxBytes) {
      await cache.remove(copyName)
      return false
    }
    await cache.use(copyName, size)
    const missing = await findMissing(folder, files, prefix)
    const workers = Array.from({ length: MAX_CONCURRENT_DOWNLOADS }, async () => {
      for (let file = missing.pop(); file; file = missing.pop()) await this.#fetchFile(file, folder)
    })
    await Promise.all(workers)
    await this.#fetchFile(manifest, folder)
    await removeOthers(folder, new Set([...files, manifest].map(({ key }) => key.slice(prefix.length))))
    return true
  }

  /** A file that was removed meanwhile belongs to an older version. */
  async #fetchFile({ key, size }: StoredObject, folder: string): Promise<void> {
    const path = join(folder, key.slice(this.#options.prefix.length))
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    if (await this.#options.client.download(key, size, `${path}.partial`)) await rename(`${path}.partial`, path)
  }
}

async function findMissing(folder: string, files: readonly StoredObject[], prefix: string): Promise<StoredObject[]> {
  const missing: StoredObject[] = []
  for (const file of files) {
    const found = await stat(join(folder, file.key.slice(prefix.length))).catch(() => undefined)
    if (found?.size !== file.size) missing.push(file)
  }
  return missing
}

/** Removes the files of older versions. */
async function removeOthers(folder: string, names: ReadonlySet<string>): Promise<void> {
  for (const path of await listFiles(folder))
    if (!names.has(path.slice(folder.length + 1).replaceAll('\\', '/'))) await rm(path, { force: true })
}
