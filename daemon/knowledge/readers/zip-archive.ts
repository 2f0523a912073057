/** Reads zip archives in memory, with limits that do not rely on the sizes in their headers. */
import { isUtf8 } from 'node:buffer'
import { inflateRawSync } from 'node:zlib'
import { decodeText } from './encoding/decode-text.ts'
import { DECOMPRESSION_LIMIT_MESSAGE } from './limit-allocations.ts'
import { DocumentReadError } from './parsed-document.ts'

const MAX_ENTRIES = 10_000
const MAX_INFLATED_BYTES = 200 * 1024 * 1024
/** Limit of parts that are read one after another, each after the one before was released. */
const MAX_TRANSIENT_BYTES = 1024 * 1024 * 1024
/** Entries up to this size may have any compression ratio. */
const MIN_RATIO_CHECK_BYTES = 10 * 1024 * 1024
const MAX_COMPRESSION_RATIO = 100
/** Stands for a number in the zip64 field. */
const LARGE = 0xffffffff
/** Records of zip64 may be between the directory and its end record. */
const MAX_DIRECTORY_GAP = 200
const MADE_ON_UNIX = 3
const FILE_TYPE = 0xf000
const REGULAR_FILE = 0x8000

interface Entry {
  method: number
  flags: number
  packedSize: number
  /** As the directory says, which may be false. */
  size: number
  offset: number
  /** Of Unix, with the type of the file; 0 if unknown. */
  mode: number
}

export class ZipArchive {
  readonly #bytes: Uint8Array
  readonly #entries: Map<string, Entry>
  #inflatedBytes = 0
  readonly #transientSizes = new Map<string, number>()
  /** Of all entries that are read. */
  readonly #maxInflatedBytes: number

  constructor(bytes: Uint8Array, maxEntries = MAX_ENTRIES, maxInflatedBytes = MAX_INFLATED_BYTES) {
    this.#bytes = bytes
    this.#maxInflatedBytes = maxInflatedBytes
    this.#entries = readDirectory(bytes, maxEntries)
  }

  get names(): string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Lists regular files: neither folders nor links. */
  listFiles(): { name: string; size: number }[] {
    return [...this.#entries]
      .filter(([name, { mode }]) => !name.endsWith('/') && [0, REGULAR_FILE].includes(mode & FILE_TYPE))
      .map(([name, { size }]) => ({ name, size }))
  }

  get isEncrypted(): boolean {
    return [...this.#entries.values()].some(({ flags }) => (flags & 1) !== 0)
  }

  read(name: string): Uint8Array {
    const content = this.#unpack(name, this.#maxInflatedBytes - this.#inflatedBytes)
    this.#inflatedBytes += content.length
    if (this.#inflatedBytes > this.#maxInflatedBytes) throw createBombError()
    return content
  }

  /** Reads a part that the caller releases before it reads the next one, such as a sheet. It may be read again. */
  readTransient(name: string): Uint8Array {
    const content = this.#unpack(name, MAX_INFLATED_BYTES)
    this.#transientSizes.set(name, content.length)
    const total = [...this.#transientSizes.values()].reduce((sum, size) => sum + size, 0)
    if (total > MAX_TRANSIENT_BYTES) throw createBombError()
    return content
  }

  #unpack(name: string, maxBytes: number): Uint8Array {
    const entry = this.#entries.get(name)
    if (!entry) throw new DocumentReadError(`The document is damaged: part ${name} is missing.`)
    const { offset, packedSize, size, method } = entry
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength)
    if (offset + 30 > this.#bytes.length || view.getUint32(offset, true) !== 0x04034b50) throw createDamageError(name)
    const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
    if (start + packedSize > this.#bytes.length) throw createDamageError(name)
    const packed = this.#bytes.subarray(start, start + packedSize)
    const content = method === 0 ? packed : method === 8 ? inflate(packed, name, size, maxBytes) : undefined
    if (content === undefined) throw new DocumentReadError(`The document uses an unsupported compression method (zip method ${method}).`)
    return content
  }

  /** Returns the decoded text of a part; empty if there is no such part. */
  readText(name: string): string {
    return this.has(name) ? decodeText(this.read(name)) : ''
  }
}

/** Resolves a reference in a part to the name of another part. */
export function resolvePartName(part: string, reference: string): string {
  const parts = reference.startsWith('/') ? [] : part.split('/').slice(0, -1)
  for (const step of reference.split('/')) {
    if (step === '..') parts.pop()
    else if (step !== '.' && step !== '') parts.push(step)
  }
  return parts.join('/')
}

/** The size in the directory may be wrong; if it is right, the content is written into one buffer. */
function inflate(packed: Uint8Array, name: string, size: number, maxBytes: number): Uint8Array {
  const maxOutputLength = Math.max(1, Math.min(maxBytes, Math.max(MIN_RATIO_CHECK_BYTES, packed.length * MAX_COMPRESSION_RATIO)))
  try {
    return inflateRawSync(packed, { maxOutputLength, chunkSize: Math.max(64 * 1024, Math.min(size + 1, maxOutputLength)) })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw createBombError()
    throw createDamageError(name)
  }
}

const createBombError = () => new DocumentReadError(DECOMPRESSION_LIMIT_MESSAGE)
const createDamageError = (name: string) => new DocumentReadError(`The document is damaged: part ${name} cannot be decompressed.`)

function readDirectory(bytes: Uint8Array, maxEntries: number): Map<string, Entry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = findDirectoryEnd(view)
  if (end === undefined) throw new DocumentReadError('The document is truncated or damaged: the zip directory at its end is missing.')
  const count = view.getUint16(end + 10, true)
  if (count > maxEntries) throw new DocumentReadError(`The document has ${count} parts; the maximum is ${maxEntries}.`)
  const entries = new Map<string, Entry>()
  let offset = view.getUint32(end + 16, true)
  // In a truncated archive, this may be the directory of an archive in it.
  const directoryEnd = offset + view.getUint32(end + 12, true)
  if (offset !== LARGE && (directoryEnd > end || directoryEnd < end - MAX_DIRECTORY_GAP))
    throw new DocumentReadError('The document is truncated or damaged: its zip directory does not match its content.')
  for (let index = 0; index < count; index++) {
    if (offset + 46 > bytes.length || view.getUint32(offset, true) !== 0x02014b50)
      throw new DocumentReadError('The document is damaged: its zip directory cannot be read.')
    const nameLength = view.getUint16(offset + 28, true)
    const extraLength = view.getUint16(offset + 30, true)
    const name = decodeName(bytes.subarray(offset + 46, offset + 46 + nameLength)).replaceAll('\\', '/')
    const extra = readLargeSizes(bytes.subarray(offset + 46 + nameLength, offset + 46 + nameLength + extraLength))
    const readSize = (at: number) => (view.getUint32(at, true) === LARGE ? (extra.shift() ?? LARGE) : view.getUint32(at, true))
    // In the order of the extra field.
    const size = readSize(offset + 24)
    const packedSize = readSize(offset + 20)
    entries.set(name, {
      flags: view.getUint16(offset + 8, true),
      method: view.getUint16(offset + 10, true),
      size,
      packedSize,
      offset: readSize(offset + 42),
      mode: bytes[offset + 5] === MADE_ON_UNIX ? view.getUint16(offset + 40, true) : 0,
    })
    offset += 46 + nameLength + extraLength + view.getUint16(offset + 32, true)
  }
  return entries
}

/** Older programs use the character set of their system. */
const decodeName = (bytes: Uint8Array): string => (isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : decodeText(bytes))

/** Returns the numbers of the zip64 field, which replace those that are 0xffffffff. */
function readLargeSizes(extra: Uint8Array): number[] {
  const view = new DataView(extra.buffer, extra.byteOffset, extra.byteLength)
  for (let offset = 0; offset + 4 <= extra.length; offset += 4 + view.getUint16(offset + 2, true)) {
    if (view.getUint16(offset, true) !== 1) continue
    const count = Math.floor(Math.min(view.getUint16(offset + 2, true), extra.length - offset - 4) / 8)
    return Array.from({ length: count }, (_, index) => Number(view.getBigUint64(offset + 4 + index * 8, true)))
  }
  return []
}

/** The end record may be followed by a comment of up to 65,535 bytes. */
function findDirectoryEnd(view: DataView): number | undefined {
  const last = view.byteLength - 22
  for (let offset = last; offset >= Math.max(0, last - 65_535); offset--) if (view.getUint32(offset, true) === 0x06054b50) return offset
  return undefined
}
