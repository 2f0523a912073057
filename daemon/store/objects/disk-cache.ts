/** Copies of objects on the local disk, up to a size limit. Those that were used longest ago are removed first. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { measureSize } from '../files/measure-size.ts'

export class DiskCache {
  readonly #folder: string
  readonly maxBytes: number
  /** By name, in the order of their last use. */
  readonly #sizes = new Map<string, number>()
  #total = 0

  private constructor(folder: string, maxBytes: number) {
    this.#folder = folder
    this.maxBytes = maxBytes
  }

  /** An entry is a file or folder two levels below the folder. */
  static async open(folder: string, maxBytes: number): Promise<DiskCache> {
    const cache = new DiskCache(folder, maxBytes)
    const found: { name: string; size: number; usedAt: number }[] = []
    for (const group of await listNames(folder)) {
      for (const name of await listNames(join(folder, group))) {
        if (name.startsWith('__')) continue // the catalog of LanceDB
        const path = join(folder, group, name)
        const { mtimeMs: usedAt } = await stat(path)
        found.push({ name: `${group}/${name}`, size: await measureSize(path), usedAt })
      }
    }
    for (const { name, size } of found.sort((a, b) => a.usedAt - b.usedAt)) await cache.use(name, size)
    return cache
  }

  has(name: string): boolean {
    return this.#sizes.has(name)
  }

  getPath(name: string): string {
    return join(this.#folder, name)
  }

  /** Records that an entry is used, and its size if it changed. Removes others if there is too much. */
  async use(name: string, size = this.#sizes.get(name) ?? 0): Promise<void> {
    this.#forget(name)
    this.#sizes.set(name, size)
    this.#total += size
    for (const [oldest] of this.#sizes) {
      if (this.#total <= this.maxBytes || oldest === name) break
      await this.remove(oldest)
    }
  }

  async remove(name: string): Promise<void> {
    this.#forget(name)
    await rm(this.getPath(name), { recursive: true, force: true, maxRetries: 3 })
  }

  #forget(name: string): void {
    this.#total -= this.#sizes.get(name) ?? 0
    this.#sizes.delete(name)
  }
}

const listNames = (folder: string): Promise<string[]> => readdir(folder).catch(() => []) // created at the first use
