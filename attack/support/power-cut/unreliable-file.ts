/** A file or directory of which a power cut loses what was not flushed. */

const PAGE_BYTES = 4_096

/** Bytes at an offset, or a new size. */
type Change = { at: number } & ({ offset: number; bytes: Buffer } | { size: number })

export class UnreliableFile {
  #flushed: Content
  #changes: Change[] = []
  /** With all changes. */
  #size: number

  constructor(flushed: Buffer = Buffer.alloc(0)) {
    this.#flushed = new Content(flushed)
    this.#size = flushed.length
  }

  get size(): number {
    return this.#size
  }

  /** `at` is when the call ended. */
  write(at: number, offset: number, bytes: Buffer): void {
    this.#changes.push({ at, offset, bytes })
    this.#size = Math.max(this.#size, offset + bytes.length)
  }

  truncate(at: number, size: number): void {
    this.#changes.push({ at, size })
    this.#size = size
  }

  /** Makes the changes durable that ended before the flush started. */
  flush(before: number): void {
    while (this.#changes[0] && this.#changes[0].at < before) this.#flushed.apply(this.#changes.shift() as Change)
  }

  /** What programs read. */
  read(): Buffer {
    const content = new Content(this.#flushed.read())
    for (const change of this.#changes) content.apply(change)
    return content.read()
  }

  /** Loses changes. The system writes pages in any order, each of them as it was at some moment. */
  cut(random: () => number): Buffer {
    const flushed = this.#flushed.read()
    const chosen = new Map<number, number>()
    const content = new Content(flushed)
    const sizedBy = Math.floor(random() * (this.#changes.length + 1))
    let size = flushed.length
    for (const [index, change] of this.#changes.entries()) {
      const newSize = 'size' in change ? change.size : Math.max(size, change.offset + change.bytes.length)
      if (index < sizedBy) size = newSize
      if ('size' in change) continue
      const { offset, bytes } = change
      for (let from = 0; from < bytes.length; ) {
        const page = Math.floor((offset + from) / PAGE_BYTES)
        const to = Math.min(bytes.length, (page + 1) * PAGE_BYTES - offset)
        if (!chosen.has(page)) chosen.set(page, Math.floor(random() * (this.#changes.length + 1)))
        if (index < (chosen.get(page) as number)) content.apply({ at: 0, offset: offset + from, bytes: bytes.subarray(from, to) })
        from = to
      }
    }
    content.apply({ at: 0, size })
    return content.read()
  }

  /** Loses all changes. */
  readFlushed(): Buffer {
    return this.#flushed.read()
  }
}

export class UnreliableDirectory {
  readonly entries = new Map<string, UnreliableNode>()
  readonly #flushed = new Map<string, UnreliableNode>()
  /** Each of them is atomic. Undefined removes a name. */
  #changes: { at: number; names: [string, UnreliableNode | undefined][] }[] = []

  /** `at` is when the call ended; 0 for what existed before. */
  change(at: number, ...names: [string, UnreliableNode | undefined][]): void {
    apply(this.entries, names)
    if (at === 0) apply(this.#flushed, names)
    else this.#changes.push({ at, names })
  }

  flush(before: number): void {
    while (this.#changes[0] && this.#changes[0].at < before) apply(this.#flushed, this.#changes.shift()?.names ?? [])
  }

  /** Keeps the changes before a random one: file systems write the changes of names in order. */
  cut(random: () => number): Map<string, UnreliableNode> {
    const names = new Map(this.#flushed)
    for (const change of this.#changes.slice(0, Math.floor(random() * (this.#changes.length + 1)))) apply(names, change.names)
    return names
  }

  readFlushed(): Map<string, UnreliableNode> {
    return this.#flushed
  }
}

export type UnreliableNode = UnreliableFile | UnreliableDirectory

function apply(entries: Map<string, UnreliableNode>, names: readonly [string, UnreliableNode | undefined][]): void {
  for (const [name, node] of names) {
    if (node) entries.set(name, node)
    else entries.delete(name)
  }
}

/** Bytes that grow without being copied for each write. */
class Content {
  #bytes: Buffer
  #size: number

  constructor(bytes: Buffer) {
    this.#bytes = Buffer.from(bytes)
    this.#size = bytes.length
  }

  apply(change: Change): void {
    if ('size' in change) {
      this.#grow(change.size)
      if (change.size < this.#size) this.#bytes.fill(0, change.size, this.#size)
      this.#size = change.size
      return
    }
    this.#grow(change.offset + change.bytes.length)
    change.bytes.copy(this.#bytes, change.offset)
    this.#size = Math.max(this.#size, change.offset + change.bytes.length)
  }

  read(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  #grow(size: number): void {
    if (size <= this.#bytes.length) return
    const larger = Buffer.alloc(size * 2)
    this.#bytes.copy(larger)
    this.#bytes = larger
  }
}
