/** Reads zip archives entry by entry, in memory and within limits, whatever their headers claim. */
import { inflateRawSync } from 'node:zlib'
import { DocumentReadError } from './parsed-document.ts'

const MAX_ENTRIES = 10_000
const MAX_INFLATED_BYTES = 200 * 1024 * 1024
/** Up to this size an entry may be packed as tightly as it likes; beyond it, no document is. */
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
    if (!entry) throw new DocumentReadError(`The document is damaged: its part ${name} is missing.`)
    const { offset, packedSize, method } = entry
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength)
    if (offset + 30 > this.#bytes.length || view.getUint32(offset, true) !== 0x04034b50) throw createDamageError(name)
    const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
    if (start + packedSize > this.#bytes.length) throw createDamageError(name)
    const packed = this.#bytes.subarray(start, start + packedSize)
    const content = method === 0 ? packed : method === 8 ? this.#inflate(packed, name) : undefined
    if (content === undefined)
      throw new DocumentReadError(`The document is packed in a way that Cadre does not read (zip method ${method}).`)
    this.#inflatedBytes += content.length
    if (this.#inflatedBytes > MAX_INFLATED_BYTES) throw createBombError()
    return content
  }

  #inflate(packed: Uint8Array, name: string): Uint8Array {
    const most = Math.min(MAX_INFLATED_BYTES - this.#inflatedBytes, Math.max(MIN_RATIO_CHECK_BYTES, packed.length * MAX_COMPRESSION_RATIO))
    try {
      return inflateRawSync(packed, { maxOutputLength: Math.max(1, most) })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw createBombError()
      throw createDamageError(name)
    }
  }
}

const createBombError = () =>
  new DocumentReadError('The document unpacks to far more than its size allows, as a zip bomb does; it was not read.')
const createDamageError = (name: string) => new DocumentReadError(`The document is damaged: its part ${name} cannot be unpacked.`)

/** The entries by name, from the directory at the end of the archive. */
function readDirectory(bytes: Uint8Array): Map<string, Entry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = findDirectoryEnd(view)
  if (end === undefined) throw new DocumentReadError('The document is cut off or damaged: the directory at the end of the file is missing.')
  const count = view.getUint16(end + 10, true)
  if (count > MAX_ENTRIES) throw new DocumentReadError(`The document has ${count} parts; at most ${MAX_ENTRIES} are read.`)
  const entries = new Map<string, Entry>()
  let at = view.getUint32(end + 16, true)
  for (let index = 0; index < count; index++) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== 0x02014b50)
      throw new DocumentReadError('The document is damaged: the directory at the end of the file cannot be read.')
    const nameLength = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength)).replaceAll('\\', '/')
    entries.set(name, {
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      packedSize: view.getUint32(at + 20, true),
      offset: view.getUint32(at + 42, true),
    })
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}

/** The record that ends an archive has a comment of up to 65,535 bytes behind it. */
function findDirectoryEnd(view: DataView): number | undefined {
  const last = view.byteLength - 22
  for (let at = last; at >= Math.max(0, last - 65_535); at--) if (view.getUint32(at, true) === 0x06054b50) return at
  return undefined
}
