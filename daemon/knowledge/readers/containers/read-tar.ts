/** Reads the files of a tar archive, one at a time, from a stream of any length. */
import { DocumentReadError } from '../parsed-document.ts'
import { isTarHeader } from './container-kind.ts'

const BLOCK_BYTES = 512
/** Names and attributes are small; a larger header is an attack. */
const MAX_HEADER_BYTES = 1024 * 1024

interface TarEntry {
  path: string
  size: number
  /** Links, devices and folders have no content of their own. */
  isFile: boolean
}

/** Yields entries in order; those that `shouldRead` rejects without their bytes. */
export async function* readTar(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  shouldRead: (entry: TarEntry) => boolean,
): AsyncGenerator<TarEntry & { bytes?: Uint8Array }> {
  const input = new BlockReader(chunks)
  let attributes: Attributes = {}
  let isComplete = false
  for (let block = await input.read(BLOCK_BYTES); block; block = await input.read(BLOCK_BYTES)) {
    isComplete = block.every((byte) => byte === 0)
    if (isComplete) continue
    if (!isTarHeader(block)) throw createDamageError()
    const type = String.fromCharCode(block[156] as number)
    const size = attributes.size ?? readNumber(block, 124)
    if (!(size >= 0 && size <= Number.MAX_SAFE_INTEGER)) throw createDamageError()
    if ('xgLK'.includes(type)) {
      if (size > MAX_HEADER_BYTES) throw createDamageError()
      const header = await input.readPadded(size)
      // g: attributes of the whole archive, K: target of a link
      if (type === 'x') attributes = { ...attributes, ...readAttributes(header) }
      if (type === 'L') attributes = { ...attributes, path: header.toString('utf8').replace(/\0.*$/s, '') }
      continue
    }
    const entry = { path: attributes.path ?? readPath(block), size, isFile: type === '0' || type === '\0' || type === '7' }
    attributes = {}
    if (!entry.isFile) {
      yield entry
      // Links and folders have no blocks, whatever their size says.
      if (type > '7') await input.skip(size)
    } else if (shouldRead(entry)) yield { ...entry, bytes: await input.readPadded(size) }
    else {
      yield entry
      await input.skip(size)
    }
  }
  // The last blocks of an archive are zeros.
  if (!isComplete) throw createDamageError()
}

interface Attributes {
  path?: string
  size?: number
}

const createDamageError = () => new DocumentReadError('The archive is truncated or damaged.')

/** Octal, or binary if the first bit is set. */
function readNumber(block: Buffer, offset: number): number {
  if (((block[offset] as number) & 0x80) !== 0) return Number(block.readBigUInt64BE(offset + 4))
  return Number.parseInt(block.toString('latin1', offset, offset + 12).replaceAll(/[\0 ]/g, '') || '0', 8)
}

function readPath(block: Buffer): string {
  const name = readText(block, 0, 100)
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? readText(block, 345, 155) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

const readText = (block: Buffer, offset: number, length: number): string =>
  block.toString('utf8', offset, offset + length).replace(/\0.*$/s, '')

/** Records of the form `<length> <name>=<value>\n`. */
function readAttributes(header: Buffer): Attributes {
  const attributes: Attributes = {}
  for (let offset = 0; offset < header.length; ) {
    const space = header.indexOf(0x20, offset)
    const length = Number.parseInt(header.toString('latin1', offset, space), 10)
    if (space < 0 || !(length > space - offset + 1)) return attributes
    const [, name, value = ''] = /^([^=]*)=(.*)$/s.exec(header.toString('utf8', space + 1, offset + length - 1)) ?? []
    if (name === 'path') attributes.path = value
    if (name === 'size') attributes.size = Number.parseInt(value, 10)
    offset += length
  }
  return attributes
}

/** Reads a given number of bytes from a stream of chunks. */
class BlockReader {
  readonly #chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  #chunk: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#chunks = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  }

  /** Returns undefined at the end of the stream. */
  async read(length: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    let missing = length
    while (missing > 0) {
      if (this.#chunk.length === 0 && !(await this.#fill())) {
        if (missing === length) return undefined
        throw createDamageError()
      }
      const part = this.#chunk.subarray(0, missing)
      this.#chunk = this.#chunk.subarray(part.length)
      parts.push(part)
      missing -= part.length
    }
    return Buffer.concat(parts)
  }

  async readPadded(size: number): Promise<Buffer> {
    const bytes = size === 0 ? Buffer.alloc(0) : await this.read(size)
    if (!bytes) throw createDamageError()
    await this.#discard(getPadding(size))
    return bytes
  }

  async skip(size: number): Promise<void> {
    await this.#discard(size + getPadding(size))
  }

  async #discard(length: number): Promise<void> {
    let missing = length
    while (missing > 0) {
      if (this.#chunk.length === 0 && !(await this.#fill())) throw createDamageError()
      const count = Math.min(missing, this.#chunk.length)
      this.#chunk = this.#chunk.subarray(count)
      missing -= count
    }
  }

  async #fill(): Promise<boolean> {
    const { value, done } = await this.#chunks.next()
    if (done) return false
    this.#chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    return true
  }
}

const getPadding = (size: number): number => (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES
