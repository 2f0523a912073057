/** A folder as a disk would keep it in a power cut: replays the recorded calls of a daemon and loses what it did not flush. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { listPaths, type RecordedCall } from './recorded-calls.ts'
import { UnreliableDirectory, UnreliableFile, type UnreliableNode } from './unreliable-file.ts'

/** SQLite maps it into memory, so that its changes are no calls, and creates it again from the write-ahead log. */
const isDerived = (name: string): boolean => name.endsWith('-shm')

interface OpenFile {
  offset: number
  isAppending: boolean
}

export class UnreliableDisk {
  readonly #folder: string
  readonly #root: UnreliableDirectory
  readonly #open = new Map<string, OpenFile>()
  /** Files of calls that may have had their effect or not. */
  readonly #interrupted = new Set<string>()

  private constructor(folder: string, root: UnreliableDirectory) {
    this.#folder = folder
    this.#root = root
  }

  /** Everything in the folder counts as flushed. */
  static load(folder: string): UnreliableDisk {
    return new UnreliableDisk(folder, loadDirectory(folder))
  }

  replay(calls: readonly RecordedCall[]): void {
    for (const call of calls) {
      const { name, result, descriptors, startedAt } = call
      const path = descriptors[0]?.path
      const key = `${call.process}/${descriptors[0]?.number}`
      if (result === undefined) this.#interrupt(call)
      else if (/^(open|creat)/.test(name)) this.#openFile(call, result)
      else if (name === 'close') this.#open.delete(key)
      else if (name === 'lseek') this.#open.set(key, { isAppending: false, ...this.#open.get(key), offset: result })
      else if (name === 'ftruncate') this.#findFile(path)?.truncate(call.endedAt, Number(call.words.at(-1)))
      else if (name === 'fsync' || name === 'fdatasync') this.#find(path)?.flush(startedAt)
      else if (name.includes('write')) this.#write(call, key, result)
      else this.#changeNames(call)
    }
  }

  #interrupt(call: RecordedCall): void {
    for (const path of [...(/write/.test(call.name) ? [] : listPaths(call)), call.descriptors[0]?.path])
      if (path) this.#interrupted.add(relative(this.#folder, path))
  }

  #write({ name, words, strings, descriptors, endedAt }: RecordedCall, key: string, length: number): void {
    const file = this.#findFile(descriptors[0]?.path)
    const bytes = Buffer.concat(strings).subarray(0, length)
    if (name.startsWith('p')) {
      file?.write(endedAt, Number(words.at(name === 'pwritev2' ? -2 : -1)), bytes)
      return
    }
    const { isAppending, offset } = this.#open.get(key) ?? { isAppending: false, offset: 0 }
    const start = isAppending && file ? file.size : offset
    file?.write(endedAt, start, bytes)
    this.#open.set(key, { isAppending, offset: start + length })
  }

  #openFile({ process, words, resultPath, endedAt }: RecordedCall, descriptor: number): void {
    const flags = words.join()
    this.#open.set(`${process}/${descriptor}`, { offset: 0, isAppending: flags.includes('O_APPEND') })
    const directory = this.#findParent(resultPath)
    if (!directory || resultPath === undefined) return
    if (flags.includes('O_CREAT') && !directory.entries.has(basename(resultPath)))
      directory.change(endedAt, [basename(resultPath), new UnreliableFile()])
    const file = this.#findFile(resultPath)
    if (flags.includes('O_TRUNC') && file && file.size > 0) file.truncate(endedAt, 0)
  }

  #changeNames(call: RecordedCall): void {
    const [from = '', to = ''] = listPaths(call)
    const at = call.endedAt
    const node = this.#find(from)
    const [fromDirectory, toDirectory] = [this.#findParent(from), this.#findParent(to)]
    if (call.name.startsWith('mkdir')) fromDirectory?.change(at, [basename(from), new UnreliableDirectory()])
    else if (call.name.startsWith('unlink') || call.name === 'rmdir') fromDirectory?.change(at, [basename(from), undefined])
    else if (call.name.startsWith('link')) toDirectory?.change(at, [basename(to), node])
    else if (call.name.startsWith('rename')) {
      if (fromDirectory !== toDirectory) throw new Error(`a rename between directories is not simulated: ${from} to ${to}`)
      fromDirectory?.change(at, [basename(from), undefined], [basename(to), node])
    }
  }

  #find(path: string | undefined): UnreliableNode | undefined {
    if (path === undefined) return undefined
    const name = relative(this.#folder, path)
    if (name.startsWith('..')) return undefined
    let node: UnreliableNode | undefined = this.#root
    for (const part of name === '' ? [] : name.split(sep)) node = node instanceof UnreliableDirectory ? node.entries.get(part) : undefined
    return node
  }

  #findFile(path: string | undefined): UnreliableFile | undefined {
    const node = this.#find(path)
    return node instanceof UnreliableFile ? node : undefined
  }

  #findParent(path: string | undefined): UnreliableDirectory | undefined {
    const node = path === undefined || path === this.#folder ? undefined : this.#find(dirname(path))
    return node instanceof UnreliableDirectory ? node : undefined
  }

  /** Lists files that the replay left unlike the daemon did, and where: then the recording is incomplete. */
  compare(): string[] {
    const expected = new Map(listFiles(this.#root))
    const actual = new Map(listFiles(loadDirectory(this.#folder)))
    return [...new Set([...expected.keys(), ...actual.keys()])]
      .filter((name) => !isDerived(name) && !this.#interrupted.has(name))
      .flatMap((name) => describeDifference(name, expected.get(name)?.read(), actual.get(name)?.read()) ?? [])
  }

  /** Replaces the folder with what the disk has kept. In a third of the cuts this is only what was flushed. */
  cut(random: () => number): void {
    const isLosingAll = random() < 1 / 3
    rmSync(this.#folder, { recursive: true })
    const write = (path: string, node: UnreliableNode) => {
      if (node instanceof UnreliableFile) return writeFileSync(path, isLosingAll ? node.readFlushed() : node.cut(random), { mode: 0o600 })
      mkdirSync(path, { mode: 0o700 })
      for (const [name, child] of isLosingAll ? node.readFlushed() : node.cut(random)) if (!isDerived(name)) write(join(path, name), child)
    }
    write(this.#folder, this.#root)
  }
}

function describeDifference(name: string, expected: Buffer | undefined, actual: Buffer | undefined): string | undefined {
  if (!expected || !actual) return `${name}, which ${expected ? 'does not exist' : 'was not created'}`
  if (expected.equals(actual)) return undefined
  const difference = actual.findIndex((byte, index) => byte !== expected[index])
  const from = difference < 0 ? actual.length : difference
  return `${name} from byte ${from} (${actual.length} bytes, ${expected.length} in the recording)`
}

function loadDirectory(folder: string): UnreliableDirectory {
  const directory = new UnreliableDirectory()
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    directory.change(0, [name, lstatSync(path).isDirectory() ? loadDirectory(path) : new UnreliableFile(readFileSync(path))])
  }
  return directory
}

function* listFiles(directory: UnreliableDirectory, prefix = ''): Generator<[string, UnreliableFile]> {
  for (const [name, node] of directory.entries) {
    if (node instanceof UnreliableFile) yield [prefix + name, node]
    else yield* listFiles(node, `${prefix}${name}/`)
  }
}
