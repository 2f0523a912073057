/** Reads compound files (OLE), which hold Outlook messages and Office documents from before 2007: storages and streams in sectors. */
import { toBuffer } from './encoding/decode-text.ts'
import { DocumentReadError } from './parsed-document.ts'

const HEADER_BYTES = 512
const ENTRY_BYTES = 128
const MINI_SECTOR_BYTES = 64
const MINI_STREAM_LIMIT = 4_096
/** Larger numbers mark free sectors and the end of a chain. */
const MAX_SECTOR = 0xfffffffa
const NO_ENTRY = 0xffffffff
const MAX_ENTRIES = 100_000
const STORAGE = 1
const STREAM = 2
const ROOT = 5

interface Entry {
  name: string
  type: number
  left: number
  right: number
  child: number
  start: number
  size: number
}

/** A folder of the file. */
export interface Storage {
  streams: Map<string, () => Buffer>
  storages: Map<string, Storage>
}

export function readCompoundFile(bytes: Uint8Array): Storage {
  try {
    return new CompoundFile(toBuffer(bytes)).readRoot()
  } catch (error) {
    if (error instanceof RangeError) throw createDamageError() // an offset beyond the end
    throw error
  }
}

const createDamageError = () => new DocumentReadError('The document is truncated or damaged.')

class CompoundFile {
  readonly #bytes: Buffer
  readonly #sectorBytes: number
  readonly #sectors: number[]
  readonly #entries: Entry[]
  readonly #miniSectors: number[]
  readonly #miniStream: Buffer

  constructor(bytes: Buffer) {
    const shift = bytes.length < HEADER_BYTES ? 0 : bytes.readUInt16LE(30)
    if (shift !== 9 && shift !== 12) throw createDamageError()
    this.#bytes = bytes
    this.#sectorBytes = 1 << shift
    this.#sectors = this.#readTable()
    this.#entries = this.#readEntries(this.#readChain(bytes.readUInt32LE(48)))
    const [root] = this.#entries
    if (root?.type !== ROOT) throw createDamageError()
    this.#miniSectors = readNumbers(this.#readChain(bytes.readUInt32LE(60)))
    this.#miniStream = this.#readChain(root.start)
  }

  readRoot(): Storage {
    return this.#readStorage(this.#entries[0] as Entry, new Set())
  }

  /** The sector after each one, from all sectors of the table: 109 are listed in the header, others in a chain. */
  #readTable(): number[] {
    const bytes = this.#bytes
    const tableSectors: number[] = []
    for (let index = 0; index < 109; index++) tableSectors.push(bytes.readUInt32LE(76 + index * 4))
    const seen = new Set<number>()
    const perSector = this.#sectorBytes / 4 - 1
    for (let next = bytes.readUInt32LE(68); next < MAX_SECTOR && !seen.has(next); ) {
      seen.add(next)
      const numbers = readNumbers(this.#readSector(next))
      tableSectors.push(...numbers.slice(0, perSector))
      next = numbers[perSector] as number
    }
    const used = [...new Set(tableSectors.filter((sector) => sector < MAX_SECTOR))]
    return used.flatMap((sector) => readNumbers(this.#readSector(sector)))
  }

  #readSector(sector: number): Buffer {
    const start = (sector + 1) * this.#sectorBytes
    // The last sector may be shorter.
    if (start >= this.#bytes.length) throw createDamageError()
    return this.#bytes.subarray(start, start + this.#sectorBytes)
  }

  #readChain(first: number): Buffer {
    return Buffer.concat(followChain(first, this.#sectors).map((sector) => this.#readSector(sector)))
  }

  #readEntries(directory: Buffer): Entry[] {
    const count = Math.min(Math.floor(directory.length / ENTRY_BYTES), MAX_ENTRIES)
    return Array.from({ length: count }, (_, index) => {
      const entry = directory.subarray(index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES)
      return {
        name: entry.toString('utf16le', 0, Math.min(64, Math.max(0, entry.readUInt16LE(64) - 2))),
        type: entry.readUInt8(66),
        left: entry.readUInt32LE(68),
        right: entry.readUInt32LE(72),
        child: entry.readUInt32LE(76),
        start: entry.readUInt32LE(116),
        size: entry.readUInt32LE(120),
      }
    })
  }

  /** `seen` holds every entry of the file, so that a cycle ends. */
  #readStorage({ child }: Entry, seen: Set<number>): Storage {
    const storage: Storage = { streams: new Map(), storages: new Map() }
    const pending = [child]
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      const entry = index === NO_ENTRY || seen.has(index) ? undefined : this.#entries[index]
      if (!entry) continue
      seen.add(index)
      pending.push(entry.left, entry.right)
      if (entry.type === STREAM) storage.streams.set(entry.name, () => this.#readStream(entry))
      else if (entry.type === STORAGE) storage.storages.set(entry.name, this.#readStorage(entry, seen))
    }
    return storage
  }

  #readStream({ start, size }: Entry): Buffer {
    if (size === 0) return Buffer.alloc(0)
    const content = size < MINI_STREAM_LIMIT ? this.#readMiniChain(start) : this.#readChain(start)
    if (content.length < size) throw createDamageError()
    return content.subarray(0, size)
  }

  #readMiniChain(first: number): Buffer {
    const sectors = followChain(first, this.#miniSectors)
    return Buffer.concat(sectors.map((sector) => this.#miniStream.subarray(sector * MINI_SECTOR_BYTES, (sector + 1) * MINI_SECTOR_BYTES)))
  }
}

function readNumbers(bytes: Buffer): number[] {
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(index * 4))
}

function followChain(first: number, next: readonly number[]): number[] {
  const chain: number[] = []
  for (let sector = first; sector < MAX_SECTOR; sector = next[sector] as number) {
    if (chain.length > next.length || next[sector] === undefined) throw createDamageError()
    chain.push(sector)
  }
  return chain
}
