import { hash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hashFile } from '../files/hash-file.ts'
import { syncDirectory } from '../files/sync-directory.ts'
import { type ConfirmOriginal, DamagedOriginalError, type OriginalContent, type OriginalStore } from '../original-store.ts'

/** Larger files are not in memory as a whole, unless somebody needs their bytes. */
const MAX_SENT_BYTES = 1024 * 1024

export class FolderOriginals implements OriginalStore {
  readonly isRemote = false
  readonly #directory: string
  readonly #queues = new Map<string, Promise<unknown>>()
  readonly #shards = new Map<string, Promise<void>>()
  readonly #released = new Map<string, () => Promise<boolean>>()
  #holds = 0

  constructor(directory: string) {
    this.#directory = directory
  }

  async keep<T>(bytes: Uint8Array, record: (contentHash: string, confirm: ConfirmOriginal) => Promise<T>): Promise<T> {
    const contentHash = hash('sha256', bytes, 'hex')
    return this.#runExclusively(contentHash, async () => {
      await this.#write(contentHash, bytes)
      return record(contentHash, async () => undefined)
    })
  }

  hold(): () => Promise<void> {
    this.#holds++
    return async () => {
      this.#holds--
      if (this.#holds > 0) return
      const released = [...this.#released]
      this.#released.clear()
      for (const [contentHash, inUse] of released) await this.release(contentHash, inUse)
    }
  }

  async release(contentHash: string, inUse: () => Promise<boolean>): Promise<void> {
    if (this.#holds > 0) {
      this.#released.set(contentHash, inUse)
      return
    }
    await this.#runExclusively(contentHash, async () => {
      if (!(await inUse())) await rm(this.#path(contentHash), { force: true })
    })
  }

  async read(contentHash: string): Promise<Buffer> {
    const bytes = await readFile(this.#path(contentHash))
    if (hash('sha256', bytes, 'hex') !== contentHash) throw new DamagedOriginalError()
    return bytes
  }

  async provide(contentHash: string): Promise<OriginalContent> {
    const path = this.#path(contentHash)
    if ((await stat(path)).size <= MAX_SENT_BYTES) return this.read(contentHash)
    if ((await hashFile(path)) !== contentHash) throw new DamagedOriginalError()
    return path
  }

  async hasAny(): Promise<boolean> {
    for (const shard of await listShards(this.#directory)) if ((await readdir(join(this.#directory, shard))).length > 0) return true
    return false
  }

  /** Removes leftovers of a crash: unrecorded and partially written files. Call it before storing anything. */
  async removeUnused(inUse: ReadonlySet<string>): Promise<void> {
    for (const shard of await listShards(this.#directory)) {
      for (const name of await readdir(join(this.#directory, shard))) {
        if (!inUse.has(name)) await rm(join(this.#directory, shard, name), { force: true })
      }
    }
  }

  #path(contentHash: string): string {
    return join(this.#directory, contentHash.slice(0, 2), contentHash)
  }

  async #write(contentHash: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(contentHash)
    if ((await stat(path).catch(() => undefined))?.size === bytes.length && (await this.#isIntact(contentHash))) return
    await this.#createShard(dirname(path))
    const partial = `${path}.${randomUUID()}`
    try {
      await writeFile(partial, bytes, { flag: 'wx', mode: 0o600, flush: true })
      await rename(partial, path)
    } catch (error) {
      await rm(partial, { force: true })
      throw error
    }
    await syncDirectory(dirname(path))
  }

  /** Resolves when the directory is on disk. It may exist already, and only in memory: its creator may have been killed. */
  async #createShard(path: string): Promise<void> {
    const create = async () => {
      await mkdir(path, { recursive: true, mode: 0o700 })
      await syncDirectory(this.#directory)
    }
    const created = this.#shards.get(path) ?? create()
    this.#shards.set(path, created)
    created.catch(() => this.#shards.delete(path)) // the next document tries again
    await created
  }

  async #isIntact(contentHash: string): Promise<boolean> {
    return this.provide(contentHash).then(
      () => true,
      () => false, // damaged or unreadable: it is written again
    )
  }

  async #runExclusively<T>(contentHash: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#queues.get(contentHash) ?? Promise.resolve()).then(work)
    const settled = turn.catch(() => undefined)
    this.#queues.set(contentHash, settled)
    try {
      return await turn
    } finally {
      if (this.#queues.get(contentHash) === settled) this.#queues.delete(contentHash)
    }
  }
}

async function listShards(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => /^[0-9a-f]{2}$/.test(name))
}
