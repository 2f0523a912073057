/** Walking a folder: its wanted files one after the other, however many there are, with what cannot be read told as problems. */
import type { BigIntStats, Dirent } from 'node:fs'
import { lstat, opendir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { Ignore } from 'ignore'
import { addRules, copyRules } from './gitignore.ts'
import { formatSizeProblem, isWithin, readFileWithin, toReadError } from './read-file-within.ts'
import type { Selection } from './selection.ts'

/** Entries looked at together: stat is a round trip to the thread pool. */
const STAT_BATCH_SIZE = 64
/** .gitignore remembers every path it is asked about, so it is renewed now and then. */
const MAX_CACHED_IGNORE_CHECKS = 10_000
const MAX_GITIGNORE_BYTES = 1024 * 1024
/** Trouble of the machine, not of one entry: going on would make documents look deleted. */
const SYSTEM_ERROR_CODES = ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO']

export interface FileEntry {
  path: string
  name: string
  fingerprint: string
  problem?: string
}

export interface WalkOptions {
  /** A real path: links in it are resolved. */
  root: string
  selection: Selection
  gitignore: boolean
  signal: AbortSignal
  /** Real paths that are left out, because another walk has them. */
  skip?: ReadonlySet<string>
  /** Told of every folder that is entered, before its entries are listed. */
  onFolder?: (path: string) => void
}

interface Folder {
  path: string
  name: string
  rules: Ignore | undefined
  /** Reached through a link: further links to folders are not followed, so that no cycle can arise. */
  isLinked: boolean
}

interface WalkResult {
  entry?: FileEntry
  folder?: Folder
}

export async function* walkFolder(options: WalkOptions): AsyncGenerator<FileEntry> {
  const pending: Folder[] = [{ path: options.root, name: '', rules: undefined, isLinked: false }]
  for (let folder = pending.pop(); folder; folder = pending.pop()) {
    options.onFolder?.(folder.path)
    if (options.gitignore) folder.rules = await loadRules(folder, options)
    for await (const { entry, folder: below } of listEntries(folder, options)) {
      if (entry) yield entry
      if (below) pending.push(below)
    }
  }
}

async function loadRules(folder: Folder, { root, signal }: WalkOptions): Promise<Ignore | undefined> {
  const path = join(folder.path, '.gitignore')
  try {
    // git does not follow a .gitignore that is a link either.
    if (!(await lstat(path)).isFile()) return folder.rules
    const text = await readFileWithin(root, path, MAX_GITIGNORE_BYTES, signal)
    return addRules(folder.rules, folder.name, Buffer.from(text).toString('utf8'))
  } catch {
    // No rules here, or none that can be read: those above go on.
    signal.throwIfAborted()
    return folder.rules
  }
}

async function* listEntries(folder: Folder, options: WalkOptions): AsyncGenerator<WalkResult> {
  let asked = 0
  let rules = copyRules(folder.rules)
  const ignored = (name: string) => {
    if (++asked % MAX_CACHED_IGNORE_CHECKS === 0) rules = copyRules(folder.rules)
    return rules?.ignores(name) ?? false
  }
  const look = async (found: Dirent): Promise<WalkResult> => {
    const path = join(folder.path, found.name)
    const name = await composeName(folder, found.name, path)
    return options.skip?.has(path) ? {} : inspectEntry({ dirent: found, path, name, folder, isIgnored: ignored }, options)
  }
  try {
    let batch: Promise<WalkResult>[] = []
    for await (const found of await opendir(folder.path, { bufferSize: 256 })) {
      options.signal.throwIfAborted()
      batch.push(look(found))
      if (batch.length < STAT_BATCH_SIZE) continue
      yield* await Promise.all(batch)
      batch = []
    }
    yield* await Promise.all(batch)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (folder.name === '' || !/^E[A-Z]/.test(code) || SYSTEM_ERROR_CODES.includes(code)) throw error
    // A folder that vanished meanwhile is no different from one deleted before.
    if (code !== 'ENOENT') yield { entry: { path: folder.path, name: folder.name, fingerprint: '', problem: toReadError(error).message } }
  }
}

interface Candidate {
  dirent: Dirent
  path: string
  name: string
  folder: Folder
  isIgnored: (name: string) => boolean
}

async function inspectEntry(
  { dirent: found, path, name, folder, isIgnored: ignored }: Candidate,
  options: WalkOptions,
): Promise<WalkResult> {
  const { selection } = options
  if (found.isDirectory())
    return selection.includesFolder(name) && !ignored(`${name}/`)
      ? { folder: { path, name, rules: folder.rules, isLinked: folder.isLinked } }
      : {}
  if (found.isSymbolicLink()) return inspectLink({ dirent: found, path, name, folder, isIgnored: ignored }, options)
  if (!found.isFile() || !selection.includesFile(name) || ignored(name)) return {}
  return inspectFile(path, name, selection)
}

/** A link is followed inside the root, and only to what is not found under its own name: hidden data behind visible links. */
async function inspectLink({ path, name, folder, isIgnored: ignored }: Candidate, { root, selection }: WalkOptions): Promise<WalkResult> {
  let real: string
  let target: BigIntStats
  try {
    real = await realpath(path)
    target = await stat(real, { bigint: true })
  } catch {
    // It leads nowhere, in circles, or where we may not look: there is nothing to read.
    return {}
  }
  if (!isWithin(root, real)) return {}
  const own = relative(root, real).split(sep).join('/').normalize('NFC')
  if (target.isFile())
    return selection.includesFile(name) && !selection.includesFile(own) && !ignored(name) ? inspectFile(path, name, selection) : {}
  if (!target.isDirectory() || folder.isLinked || own === '' || selection.includesFolder(own) || isWithin(real, folder.path)) return {}
  return selection.includesFolder(name) && !ignored(`${name}/`) ? { folder: { path, name, rules: folder.rules, isLinked: true } } : {}
}

async function inspectFile(path: string, name: string, selection: Selection): Promise<WalkResult> {
  try {
    const found = await stat(path, { bigint: true })
    return { entry: createEntry(path, name, found, selection.maxFileSize) }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (SYSTEM_ERROR_CODES.includes(code)) throw error
    if (code !== 'ENOENT') return { entry: { path, name, fingerprint: '', problem: toReadError(error).message } }
    if (!name.includes('\ufffd')) return {}
    return { entry: { path, name, fingerprint: '', problem: 'Its name is not valid UTF-8, so it cannot be opened.' } }
  }
}

/** The change time tells of edits that put the modification time back. */
export function createEntry(path: string, name: string, found: BigIntStats, limit: number): FileEntry {
  const fingerprint = [found.size, found.mtimeNs, found.ctimeNs, found.ino].join('-')
  return { path, name, fingerprint, ...(found.size > limit ? { problem: formatSizeProblem(Number(found.size), limit) } : {}) }
}

/** Composed, so that a name is the same on every system; unless a file of that very name stands beside it. */
async function composeName(folder: Folder, raw: string, path: string): Promise<string> {
  const composed = raw.normalize('NFC')
  const prefix = folder.name === '' ? '' : `${folder.name}/`
  if (composed === raw) return prefix + raw
  try {
    const [one, other] = await Promise.all([lstat(path), lstat(join(folder.path, composed))])
    return prefix + (one.ino === other.ino ? composed : raw)
  } catch {
    // The composed name is free: it is ours.
    return prefix + composed
  }
}
