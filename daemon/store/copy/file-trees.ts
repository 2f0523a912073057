/** The files of a storage, in a home or in a bucket. Both have the same names. */
import { copyFile, mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hashFile } from '../files/hash-file.ts'
import { listFiles } from '../files/list-files.ts'
import type { S3Client } from '../objects/s3-client.ts'

export interface FileTree {
  readonly location: string
  /** The sizes of all files below the prefix. */
  list(prefix: string): Promise<Map<string, number>>
  /** Makes a file available at a path. It may be the file itself. */
  fetch(name: string, size: number, temporary: string): Promise<string>
  store(name: string, path: string, size: number): Promise<void>
  hash(name: string, size: number, temporary: string): Promise<string>
}

export class FolderTree implements FileTree {
  readonly location: string

  constructor(folder: string) {
    this.location = folder
  }

  async list(prefix: string): Promise<Map<string, number>> {
    const sizes = new Map<string, number>()
    const root = join(this.location, prefix)
    for (const path of await listFiles(root).catch(() => []))
      sizes.set(path.slice(this.location.length + 1).replaceAll('\\', '/'), (await stat(path)).size)
    return sizes
  }

  fetch = async (name: string) => join(this.location, name)
  hash = (name: string) => hashFile(join(this.location, name))

  async store(name: string, path: string): Promise<void> {
    const target = join(this.location, name)
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await copyFile(path, `${target}.partial`)
    await rename(`${target}.partial`, target)
  }
}

export class BucketTree implements FileTree {
  readonly location: string
  readonly #client: S3Client

  constructor(client: S3Client) {
    this.location = client.location
    this.#client = client
  }

  async list(prefix: string): Promise<Map<string, number>> {
    const sizes = new Map<string, number>()
    for await (const { key, size } of this.#client.list(prefix)) sizes.set(key, size)
    return sizes
  }

  async fetch(name: string, size: number, temporary: string): Promise<string> {
    if (!(await this.#client.download(name, size, temporary))) throw new Error(`${name} is missing in ${this.location}.`)
    return temporary
  }

  store = (name: string, path: string, size: number) => this.#client.upload(name, path, size)

  async hash(name: string, size: number, temporary: string): Promise<string> {
    const digest = await hashFile(await this.fetch(name, size, temporary))
    await rm(temporary, { force: true })
    return digest
  }
}
