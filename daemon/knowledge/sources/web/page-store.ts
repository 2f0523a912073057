/** Stores fetched pages in the work directory of a source, for conditional requests and to keep them out of memory. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { CadreError } from '../../../../src/contract/errors.ts'

export interface StoredPage {
  /** The URL after redirects. */
  url: string
  contentType: string
  /** The type that the name of the file has, if the content type does not tell it. */
  fileType?: string
  hash: string
  etag?: string
  lastModified?: string
  title?: string
  canonical?: string
  links: string[]
}

export class PageStore {
  readonly #directory: string
  readonly #usedKeys = new Set<string>()

  constructor(workDirectory: string) {
    this.#directory = join(workDirectory, 'pages')
  }

  /** Returns undefined if the header or the body is missing or damaged. */
  async find(url: string): Promise<StoredPage | undefined> {
    this.#usedKeys.add(getKey(url))
    try {
      const page = JSON.parse(await readFile(this.#header(url), 'utf8')) as StoredPage
      await this.#loadBody(url, page.hash)
      return page
    } catch {
      // Never fetched, or damaged: fetched again.
      return undefined
    }
  }

  /** Writes the body first: a header implies its body. */
  async put(url: string, page: StoredPage, body: Uint8Array): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await this.#write(this.#body(url, page.hash), body)
    await this.#write(this.#header(url), JSON.stringify(page))
  }

  async read(url: string, hash: string): Promise<Uint8Array> {
    try {
      return await this.#loadBody(url, hash)
    } catch (cause) {
      throw new CadreError('NOT_FOUND', 'The stored copy of the page is missing; the next sync fetches it again.', { cause })
    }
  }

  /** Deletes pages that were not requested since the store was created. */
  async deleteUnused(): Promise<void> {
    const names = await readdir(this.#directory).catch(() => [])
    for (const name of names) {
      const [key = ''] = name.split('.')
      const stale = this.#usedKeys.has(key) ? await this.#isReplaced(name, names) : true
      if (stale) await rm(join(this.#directory, name), { force: true })
    }
  }

  /** Whether the file is a body that its header no longer refers to, or an incomplete one. */
  async #isReplaced(name: string, names: readonly string[]): Promise<boolean> {
    const [key, hash] = name.split('.')
    if (hash === 'json') return false
    if (!names.includes(`${key}.json`)) return true
    const header = JSON.parse(await readFile(join(this.#directory, `${key}.json`), 'utf8').catch(() => '{}')) as Partial<StoredPage>
    return header.hash !== hash || name.endsWith('.new')
  }

  async #loadBody(url: string, hash: string): Promise<Uint8Array> {
    const bytes = await readFile(this.#body(url, hash))
    if ((await hashBytes(bytes)) !== hash) throw new Error('the stored page is damaged')
    return bytes
  }

  async #write(path: string, content: string | Uint8Array): Promise<void> {
    await writeFile(`${path}.new`, content, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }

  #header(url: string): string {
    return join(this.#directory, `${getKey(url)}.json`)
  }

  #body(url: string, hash: string): string {
    return join(this.#directory, `${getKey(url)}.${hash}`)
  }
}

const HASH_SLICE_BYTES = 4 * 1024 * 1024

/** Hashes in slices, so that a large page does not block the event loop. */
export async function hashBytes(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let offset = 0; offset < bytes.length; offset += HASH_SLICE_BYTES) {
    if (offset > 0) await immediate()
    hash.update(bytes.subarray(offset, offset + HASH_SLICE_BYTES))
  }
  return hash.digest('hex')
}

const getKey = (url: string): string => createHash('sha256').update(url).digest('hex').slice(0, 32)
