/** Reads the streams of an OLE container (compound file), which holds Office documents from before 2007. */
import { DocumentReadError } from '../parsed-document.ts'

const HEADER_LENGTH = 512
const ENTRY_LENGTH = 128
/** Higher numbers mark the end of a chain, or sectors without content. */
const MAX_SECTOR = 0xfffffffa
const MAX_STREAM_BYTES = 200 * 1024 * 1024
const MAX_ENTRIES = 10_000

interface Entry {
  name: string
  left: number
  right: number
  child: number
  start: number
  size: number
}

export class OleContainer {
  readonly #bytes: Buffer
  readonly #sectorSize: number
  readonly #miniSectorSize: number
  readonly #miniCutoff: number
  readonly #sectors: number[]
  readonly #miniSectors: number[]
  readonly #entries: Entry[]
  readonly #miniStream: Buffer

  /** Throws DocumentReadError if the container is damaged. */
  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (this.#bytes.length < HEADER_LENGTH) throw createDamageError('its header is incomplete')
    const [shift, miniShift] = [this.#bytes.readUInt16LE(30), this.#bytes.readUInt16LE(32)]
    if ((shift !== 9 && shift !== 12) || miniShift !== 6) throw createDamageError('its header cannot be read')
    this.#sectorSize = 2 ** shift
    this.#miniSectorSize = 2 ** miniShift
    this.#miniCutoff = this.#bytes.readUInt32LE(56)
    this.#sectors = this.#readSectorTable()
    this.#entries = this.#readDirectory(this.#bytes.readUInt32LE(48))
    this.#miniSectors = readNumbers(this.#readChain(this.#bytes.readUInt32LE(60), MAX_STREAM_BYTES))
    const root = this.#entries[0]
    if (!root) throw createDamageError('its directory is empty')
    this.#miniStream = this.#readChain(root.start, root.size)
  }

  /** Lists the names of the streams and storages of the container itself, not those of embedded documents. */
  listNames(): string[] {
    return this.#listChildren().map(({ name }) => name)
  }

  read(name: string): Buffer | undefined {
    const entry = this.#listChildren().find((child) => child.name === name)
    if (!entry) return undefined
    if (entry.size > MAX_STREAM_BYTES) throw createDamageError(`${name} is larger than ${MAX_STREAM_BYTES} bytes`)
    return entry.size < this.#miniCutoff ? this.#readMiniChain(entry) : this.#readChain(entry.start, entry.size)
  }

  /** The entries of a folder are a tree; a damaged one can have cycles. */
  #listChildren(): Entry[] {
    const children: Entry[] = []
    const seen = new Set<number>()
    const waiting = [this.#entries[0]?.child ?? -1]
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      const entry = this.#entries[index]
      if (!entry || seen.has(index)) continue
      seen.add(index)
      children.push(entry)
      waiting.push(entry.left, entry.right)
    }
    return children
  }

  /** The table names the next sector of every sector. Its own sectors are listed in the header, and in further sectors. */
  #readSectorTable(): number[] {
    const sectors: number[] = []
    const addTable = (sector: number) => {
      if (sector <= MAX_SECTOR) sectors.push(...readNumbers(this.#readSector(sector)))
    }
    const limit = Math.ceil(this.#bytes.length / this.#sectorSize)
    for (let index = 0; index < 109; index++) addTable(this.#bytes.readUInt32LE(76 + index * 4))
    let next = this.#bytes.readUInt32LE(68)
    for (let count = 0; next <= MAX_SECTOR && count < limit; count++) {
      const numbers = readNumbers(this.#readSector(next))
      next = numbers.pop() ?? MAX_SECTOR + 1
      for (const sector of numbers) addTable(sector)
      if (sectors.length > limit + this.#sectorSize) break
    }
    return sectors
  }

  #readSector(sector: number): Buffer {
    const start = (sector + 1) * this.#sectorSize
    if (start >= this.#bytes.length) throw createDamageError('a part of it is missing', 'truncated or ')
    return this.#bytes.subarray(start, start + this.#sectorSize)
  }

  #readChain(start: number, size: number): Buffer {
    const parts: Buffer[] = []
    let length = 0
    for (let sector = start; sector <= MAX_SECTOR && length < size; sector = this.#sectors[sector] ?? MAX_SECTOR + 1) {
      const part = this.#readSector(sector)
      parts.push(part)
      length += part.length
      if (length > this.#bytes.length) throw createDamageError('its sectors refer to each other in a cycle')
    }
    return Buffer.concat(parts).subarray(0, size)
  }

  #readMiniChain({ start, size }: Entry): Buffer {
    const parts: Buffer[] = []
    let length = 0
    for (let sector = start; sector <= MAX_SECTOR && length < size; sector = this.#miniSectors[sector] ?? MAX_SECTOR + 1) {
      const offset = sector * this.#miniSectorSize
      parts.push(this.#miniStream.subarray(offset, offset + this.#miniSectorSize))
      length += this.#miniSectorSize
    }
    return Buffer.concat(parts).subarray(0, size)
  }

  #readDirectory(start: number): Entry[] {
    const directory = this.#readChain(start, MAX_ENTRIES * ENTRY_LENGTH)
    const entries: Entry[] = []
    for (let offset = 0; offset + ENTRY_LENGTH <= directory.length; offset += ENTRY_LENGTH) {
      const nameLength = Math.min(Math.max(0, directory.readUInt16LE(offset + 64) - 2), 62)
      entries.push({
        name: directory.toString('utf16le', offset, offset + nameLength),
        left: directory.readInt32LE(offset + 68),
        right: directory.readInt32LE(offset + 72),
        child: directory.readInt32LE(offset + 76),
        start: directory.readUInt32LE(offset + 116),
        size: directory.readUInt32LE(offset + 120),
      })
    }
    return entries
  }
}

function readNumbers(bytes: Buffer): number[] {
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(index * 4))
}

const createDamageError = (problem: string, kind = '') => new DocumentReadError(`The document is ${kind}damaged: ${problem}.`)
