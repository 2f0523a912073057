/** Reads zip archives in memory, with limits that do not rely on the sizes in their headers. */
import { inflateRawSync } from 'node:zlib'
import { decodeText } from './encoding/decode-text.ts'
import { DECOMPRESSION_LIMIT_MESSAGE } from './limit-allocations.ts'
import { DocumentReadError } from './parsed-document.ts'

const MAX_ENTRIES = 10_000
const MAX_INFLATED_BYTES = 200 * 1024 * 1024
/** Entries up to this size may have any compression ratio. */
const MIN_RATIO_CHECK_BYTES = 10 * 1024 * 1024
const MAX_COMPRESSION_RATIO = 100

interface Entry {
  method: number
  flags: number
  packedSize: number
  offset: number
}

export class ZipArchive {
  readonly #bytes: Uint8Array
  readonly #entries: Map<string, Entry>
  #inflatedBytes = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#entries = readDirectory(bytes)
  }

  get names(): string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  get isEncrypted(): boolean {
    return [...this.#entries.values()].some(({ flags }) => (flags & 1) !== 0)
  }

  read(name: string): Uint8Array {
    const entry = this.#entries.get(name)
    if (!entry) throw new DocumentReadError(`The document is damaged: part ${name} is missing.`)
    const { offset, packedSize, method } = entry
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength)
    if (offset + 30 > this.#bytes.length || view.getUint32(offset, true) !== 0x04034b50) throw createDamageError(name)
    const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
    if (start + packedSize > this.#bytes.length) throw createDamageError(name)
    const packed = this.#bytes.subarray(start, start + packedSize)
    const content = method === 0 ? packed : method === 8 ? this.#inflate(packed, name) : undefined
    if (content === undefined) throw new DocumentReadError(`The document uses an unsupported compression method (zip method ${method}).`)
    this.#inflatedBytes += content.length
    if (this.#inflatedBytes > MAX_INFLATED_BYTES) throw createBombError()
    return content
  }

  /** Returns the decoded text of a part; empty if there is no such part. */
  readText(name: string): string {
    return this.has(name) ? decodeText(this.read(name)) : ''
  }

  #inflate(packed: Uint8Array, name: string): Uint8Array {
    const maxOutputLength = Math.min(
      MAX_INFLATED_BYTES - this.#inflatedBytes,
      Math.max(MIN_RATIO_CHECK_BYTES, packed.length * MAX_COMPRESSION_RATIO),
    )
    try {
      return inflateRawSync(packed, { maxOutputLength: Math.max(1, maxOutputLength) })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw createBombError()
      throw createDamageError(name)
    }
  }
}

const createBombError = () => new DocumentReadError(DECOMPRESSION_LIMIT_MESSAGE)
const createDamageError = (name: string) => new DocumentReadError(`The document is damaged: part ${name} cannot be decompressed.`)

function readDirectory(bytes: Uint8Array): Map<string, Entry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = findDirectoryEnd(view)
  if (end === undefined) throw new DocumentReadError('The document is truncated or damaged: the zip directory at its end is missing.')
  const count = view.getUint16(end + 10, true)
  if (count > MAX_ENTRIES) throw new DocumentReadError(`The document has ${count} parts; the maximum is ${MAX_ENTRIES}.`)
  const entries = new Map<string, Entry>()
  let offset = view.getUint32(end + 16, true)
  for (let index = 0; index < count; index++) {
    if (offset + 46 > bytes.length || view.getUint32(offset, true) !== 0x02014b50)
      throw new DocumentReadError('The document is damaged: its zip directory cannot be read.')
    const nameLength = view.getUint16(offset + 28, true)
    const name = new TextDecoder().decode(bytes.subarray(offset + 46, offset + 46 + nameLength)).replaceAll('\\', '/')
    entries.set(name, {
      flags: view.getUint16(offset + 8, true),
      method: view.getUint16(offset + 10, true),
      packedSize: view.getUint32(offset + 20, true),
      offset: view.getUint32(offset + 42, true),
    })
    offset += 46 + nameLength + view.getUint16(offset + 30, true) + view.getUint16(offset + 32, true)
  }
  return entries
}

/** The end record may be followed by a comment of up to 65,535 bytes. */
function findDirectoryEnd(view: DataView): number | undefined {
  const last = view.byteLength - 22
  for (let offset = last; offset >= Math.max(0, last - 65_535); offset--) if (view.getUint32(offset, true) === 0x06054b50) return offset
  return undefined
}
