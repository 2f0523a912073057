/** Writes and reads tar archives of plain files (POSIX ustar), which `tar` reads too. */

const BLOCK = 512
const TYPE_FILE = '0'
const MAX_NAME = 100
const MAX_PREFIX = 155
const MAX_OCTAL_SIZE = 0o77777777777

export class ArchiveError extends Error {}

/** The header of a file. Names are ASCII. */
export function createHeader(name: string, size: number, modifiedAt: Date): Buffer {
  const header = Buffer.alloc(BLOCK)
  const { prefix, base } = splitName(name)
  header.write(base, 0, 'latin1')
  header.write('0000600\0', 100, 'latin1')
  header.write('0000000\0', 108, 'latin1')
  header.write('0000000\0', 116, 'latin1')
  writeSize(header, size)
  header.write(
    `${Math.floor(modifiedAt.getTime() / 1000)
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
    'latin1',
  )
  header.write(' '.repeat(8), 148, 'latin1')
  header.write(TYPE_FILE, 156, 'latin1')
  header.write('ustar\u000000', 257, 'latin1')
  header.write(prefix, 345, 'latin1')
  header.write(`${computeChecksum(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

/** The zeros after the content of a file. */
export const createPadding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)

/** The end of an archive. */
export const createTrailer = (): Buffer => Buffer.alloc(2 * BLOCK)

function splitName(name: string): { prefix: string; base: string } {
  if (name.length <= MAX_NAME) return { prefix: '', base: name }
  const slash = name.indexOf('/', name.length - MAX_NAME - 1)
  if (slash === -1 || slash > MAX_PREFIX) throw new ArchiveError(`the name ${name} is too long`)
  return { prefix: name.slice(0, slash), base: name.slice(slash + 1) }
}

/** Files of 8 GiB and more have a binary size, as GNU tar writes it. */
function writeSize(header: Buffer, size: number): void {
  if (size <= MAX_OCTAL_SIZE) header.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  else {
    header[124] = 0x80
    header.writeBigUInt64BE(BigInt(size), 128)
  }
}

function computeChecksum(header: Buffer): number {
  let sum = 0
  for (let index = 0; index < BLOCK; index++) sum += index >= 148 && index < 156 ? 0x20 : (header[index] as number)
  return sum
}

export interface ArchiveEntry {
  name: string
  size: number
  /** Must be read before the next entry. */
  content: AsyncIterable<Buffer>
}

/** Reads the files of an archive. Throws an ArchiveError for anything but plain files, and if the archive is cut off. */
export async function* readEntries(source: AsyncIterable<Buffer>): AsyncGenerator<ArchiveEntry> {
  const reader = new BlockReader(source)
  for (;;) {
    const header = await reader.read(BLOCK)
    if (header.every((byte) => byte === 0)) return
    const { name, size } = parseHeader(header)
    let unread = size
    async function* readContent(): AsyncGenerator<Buffer> {
      while (unread > 0) {
        const part = await reader.readUpTo(unread)
        unread -= part.length
        yield part
      }
    }
    yield { name, size, content: readContent() }
    if (unread > 0) throw new Error(`the content of ${name} was not read`)
    await reader.read((BLOCK - (size % BLOCK)) % BLOCK)
  }
}

function parseHeader(header: Buffer): { name: string; size: number } {
  const readText = (start: number, length: number) => header.toString('latin1', start, start + length).replace(/\0.*$/s, '')
  if (computeChecksum(header) !== Number.parseInt(readText(148, 8), 8)) throw new ArchiveError('it is damaged, or not a tar archive')
  const prefix = readText(345, MAX_PREFIX)
  const name = `${prefix === '' ? '' : `${prefix}/`}${readText(0, MAX_NAME)}`
  if (readText(156, 1) !== TYPE_FILE) throw new ArchiveError(`${JSON.stringify(name)} is not a plain file`)
  const isBinary = ((header[124] as number) & 0x80) !== 0
  const size = isBinary ? Number(header.readBigUInt64BE(128)) : Number.parseInt(readText(124, 12).trim(), 8)
  if (!Number.isSafeInteger(size) || size < 0) throw new ArchiveError(`the size of ${JSON.stringify(name)} is invalid`)
  return { name, size }
}

/** Reads a stream in pieces of given sizes. */
class BlockReader {
  readonly #source: AsyncIterator<Buffer>
  #buffer: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async read(size: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let missing = size; missing > 0; ) {
      const part = await this.readUpTo(missing)
      parts.push(part)
      missing -= part.length
    }
    return Buffer.concat(parts)
  }

  async readUpTo(size: number): Promise<Buffer> {
    while (this.#buffer.length === 0) {
      const { done, value } = await this.#source.next()
      if (done) throw new ArchiveError('it is incomplete')
      this.#buffer = value
    }
    const part = this.#buffer.subarray(0, size)
    this.#buffer = this.#buffer.subarray(part.length)
    return part
  }
}
