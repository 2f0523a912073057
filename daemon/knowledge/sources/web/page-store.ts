/** Pages as they were last fetched, kept in the source's own directory: unchanged ones need not be sent again, and none is held in memory. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { CadreError } from '../../../../src/contract/errors.ts'

export interface StoredPage {
  /** Where it was found in the end, after redirects. */
  url: string
  contentType: string
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

  constructor(work: string) {
    this.#directory = join(work, 'pages')
  }

  /** What is known of an address; nothing if either half of it is missing or damaged. */
  async find(address: string): Promise<StoredPage | undefined> {
    this.#usedKeys.add(getKey(address))
    try {
      const page = JSON.parse(await readFile(this.#header(address), 'utf8')) as StoredPage
      await this.#loadBody(address, page.hash)
      return page
    } catch {
      // Never fetched, or not to be trusted: it is fetched anew.
      return undefined
    }
  }

  /** The body first: a header is only there when its body is. */
  async put(address: string, page: StoredPage, bodyPath: Uint8Array): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await this.#write(this.#body(address, page.hash), bodyPath)
    await this.#write(this.#header(address), JSON.stringify(page))
  }

  async read(address: string, hash: string): Promise<Uint8Array> {
    try {
      return await this.#loadBody(address, hash)
    } catch (cause) {
      throw new CadreError('NOT_FOUND', 'What was fetched of it is gone; the next synchronization fetches it again.', { cause })
    }
  }

  /** Forgets every page nobody asked about since this was opened. */
  async deleteUnused(): Promise<void> {
    const names = await readdir(this.#directory).catch(() => [])
    for (const name of names) {
      const [key = ''] = name.split('.')
      const stale = this.#usedKeys.has(key) ? await this.#isReplaced(name, names) : true
      if (stale) await rm(join(this.#directory, name), { force: true })
    }
  }

  /** Whether this is a body, or half of one, that its header no longer speaks of. */
  async #isReplaced(name: string, names: readonly string[]): Promise<boolean> {
    const [key, hash] = name.split('.')
    if (hash === 'json') return false
    if (!names.includes(`${key}.json`)) return true
    const headerPath = JSON.parse(await readFile(join(this.#directory, `${key}.json`), 'utf8').catch(() => '{}')) as Partial<StoredPage>
    return headerPath.hash !== hash || name.endsWith('.new')
  }

  async #loadBody(address: string, hash: string): Promise<Uint8Array> {
    const bytes = await readFile(this.#body(address, hash))
    if ((await hashBytes(bytes)) !== hash) throw new Error('the stored page is damaged')
    return bytes
  }

  async #write(path: string, content: string | Uint8Array): Promise<void> {
    await writeFile(`${path}.new`, content, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }

  #header(address: string): string {
    return join(this.#directory, `${getKey(address)}.json`)
  }

  #body(address: string, hash: string): string {
    return join(this.#directory, `${getKey(address)}.${hash}`)
  }
}

const HASH_SLICE_BYTES = 4 * 1024 * 1024

/** In slices, so that a large page holds nobody up. */
export async function hashBytes(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += HASH_SLICE_BYTES) {
    if (at > 0) await immediate()
    hash.update(bytes.subarray(at, at + HASH_SLICE_BYTES))
  }
  return hash.digest('hex')
}

const getKey = (address: string): string => createHash('sha256').update(address).digest('hex').slice(0, 32)
