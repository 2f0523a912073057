/** A client of S3-compatible object storage. Keys are relative to the prefix of the URL. */
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { decodeXML } from 'entities'
import { createDeadlineSignal } from '../../../src/deadline.ts'
import { createAccessError, createMissingBucketError, StorageUnreachableError } from './storage-errors.ts'

export interface StorageAddress {
  /** `s3://bucket/prefix`. */
  url: string
  /** The URL of the server; undefined for AWS. */
  endpoint: string | undefined
  region: string
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | undefined
}

export interface StoredObject {
  key: string
  size: number
  etag: string
}

const MAX_ATTEMPTS = 3
const RETRY_DELAY_MS = 100
const REQUEST_TIMEOUT_MS = 10_000
/** For a transfer, in addition to the time of a request. */
const MIN_BYTES_PER_MS = 100
const PART_BYTES = 64 * 1024 ** 2

export class S3Client {
  readonly location: string
  readonly #signer: AwsClient
  readonly #bucketUrl: string
  readonly #prefix: string

  constructor({ url, endpoint, region, ...keys }: StorageAddress) {
    const { host: bucket, pathname } = new URL(url)
    this.location = url
    this.#signer = new AwsClient({ ...keys, sessionToken: keys.sessionToken as string, region, service: 's3', retries: 0 })
    // The bucket is part of the path, because not every server has a host name per bucket.
    this.#bucketUrl = `${endpoint ?? `https://s3.${region}.amazonaws.com`}/${bucket}`
    this.#prefix = pathname === '' || pathname === '/' ? '' : `${decodeURIComponent(pathname.slice(1))}/`
  }

  /** Returns false if `ifAbsent` is set and the object exists. */
  async put(key: string, bytes: Uint8Array, { ifAbsent = false } = {}): Promise<boolean> {
    const headers: Record<string, string> = ifAbsent ? { 'if-none-match': '*' } : {}
    const response = await this.#request('PUT', this.#getUrl(key), { body: bytes, headers }, bytes.length)
    await response.body?.cancel()
    return response.status !== 412
  }

  /** Returns undefined if there is no such object. */
  async get(key: string): Promise<Buffer | undefined> {
    const response = await this.#request('GET', this.#getUrl(key))
    if (response.status === 404) return undefined
    return this.#translate(async () => Buffer.from(await response.arrayBuffer()))
  }

  /** Returns false if there is no such object. */
  async download(key: string, size: number, path: string): Promise<boolean> {
    const response = await this.#request('GET', this.#getUrl(key), {}, size)
    if (response.status === 404 || !response.body) return false
    const body = Readable.fromWeb(response.body as never)
    await this.#translate(() => pipeline(body, createWriteStream(path, { mode: 0o600 })))
    return true
  }

  /** A large file is sent in parts, each of which can be repeated. */
  async upload(key: string, path: string, size: number): Promise<void> {
    const file = await open(path)
    const readPart = async (start: number) => {
      const part = Buffer.allocUnsafe(Math.min(PART_BYTES, size - start))
      await file.read(part, 0, part.length, start)
      return part
    }
    try {
      if (size <= PART_BYTES) await this.put(key, await readPart(0))
      else await this.#uploadParts(this.#getUrl(key), size, readPart)
    } finally {
      await file.close()
    }
  }

  async #uploadParts(url: string, size: number, readPart: (start: number) => Promise<Buffer<ArrayBuffer>>): Promise<void> {
    const started = await this.#request('POST', `${url}?uploads=`)
    const uploadId = encodeURIComponent(readElement(await started.text(), 'UploadId') ?? '')
    let parts = ''
    for (let number = 1, start = 0; start < size; number++, start += PART_BYTES) {
      const body = await readPart(start)
      const response = await this.#request('PUT', `${url}?partNumber=${number}&uploadId=${uploadId}`, { body }, body.length)
      await response.body?.cancel()
      parts += `<Part><PartNumber>${number}</PartNumber><ETag>${response.headers.get('etag')}</ETag></Part>`
    }
    const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`
    const text = await (await this.#request('POST', `${url}?uploadId=${uploadId}`, { body })).text()
    // The response may be an error although its status is 200.
    if (!text.includes('<CompleteMultipartUploadResult')) throw new StorageUnreachableError(this.location, new Error('an upload failed'))
  }

  async delete(key: string): Promise<void> {
    await (await this.#request('DELETE', this.#getUrl(key))).body?.cancel()
  }

  /** In the order of their keys. */
  async *list(prefix: string, limit = Number.POSITIVE_INFINITY): AsyncGenerator<StoredObject> {
    let left = limit
    for (let token: string | undefined = ''; token !== undefined && left > 0; ) {
      const query = new URLSearchParams({ 'list-type': '2', prefix: this.#prefix + prefix, 'max-keys': String(Math.min(left, 1_000)) })
      if (token) query.set('continuation-token', token)
      const response = await this.#request('GET', `${this.#bucketUrl}?${query}`)
      const page = parsePage(await this.#translate(() => response.text()))
      left -= page.objects.length
      for (const object of page.objects) yield { ...object, key: object.key.slice(this.#prefix.length) }
      token = page.next
    }
  }

  /** Returns the duration of a request in milliseconds. Throws an error that explains what is wrong with the address or the keys. */
  async measureLatency(): Promise<number> {
    const startedAt = performance.now()
    for await (const _ of this.list('', 1)) break
    return Math.round((performance.now() - startedAt) * 10) / 10
  }

  #getUrl(key: string): string {
    return `${this.#bucketUrl}/${(this.#prefix + key).split('/').map(encodeURIComponent).join('/')}`
  }

  /** Every request may be repeated: an object has only one content, and deleting it twice changes nothing. */
  async #request(method: string, url: string, init: RequestInit = {}, bytes = 0): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#translate(async () => {
        const signal = createDeadlineSignal(Math.ceil(REQUEST_TIMEOUT_MS + bytes / MIN_BYTES_PER_MS))
        return this.#signer.fetch(url, { ...init, method, signal })
      }).catch((error: unknown) => error as Error)
      const isTemporary = outcome instanceof Error || outcome.status >= 500 || [408, 429].includes(outcome.status)
      if (isTemporary && attempt < MAX_ATTEMPTS) {
        await pause(RETRY_DELAY_MS * 2 ** attempt)
        continue
      }
      if (outcome instanceof Error) throw outcome
      if (outcome.ok || outcome.status === 412) return outcome
      return this.#requireFound(outcome)
    }
  }

  /** Returns the response if only the object is missing. */
  async #requireFound(response: Response): Promise<Response> {
    const text = await response.text().catch(() => '')
    const code = /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? `HTTP ${response.status}`
    if (code === 'NoSuchBucket') throw createMissingBucketError(this.location)
    if (response.status === 404) return response
    if (response.status === 403 || response.status === 401 || response.status === 400) throw createAccessError(this.location, code)
    throw new StorageUnreachableError(this.location, new Error(code))
  }

  async #translate<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw new StorageUnreachableError(this.location, error)
    }
  }
}

function parsePage(xml: string): { objects: StoredObject[]; next: string | undefined } {
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, content = '']) => ({
    key: readElement(content, 'Key') ?? '',
    size: Number(readElement(content, 'Size')),
    etag: readElement(content, 'ETag') ?? '',
  }))
  return { objects, next: readElement(xml, 'NextContinuationToken') }
}

function readElement(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return text === undefined ? undefined : decodeXML(text)
}
