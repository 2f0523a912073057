/** Walks a folder and yields its included files one by one; unreadable entries have a problem. */
import type { BigIntStats, Dirent } from 'node:fs'
import { lstat, opendir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { Ignore } from 'ignore'
import type { Selection } from '../../../../src/files/selection.ts'
import { formatSkipReason } from '../format-skip-reason.ts'
import { addRules, copyRules } from './gitignore.ts'
import { formatSizeProblem, isWithin, readFileWithin, toReadError } from './read-file-within.ts'

/** Entries per batch of concurrent stat calls. */
const STAT_BATCH_SIZE = 64
/** The rules cache every checked path, so they are copied after this many checks. */
const MAX_CACHED_IGNORE_CHECKS = 10_000
const MAX_GITIGNORE_BYTES = 1024 * 1024
/** Errors of the machine, not of an entry. Ignoring them would make documents look deleted. */
const SYSTEM_ERROR_CODES = ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO']

export interface FileEntry {
  path: string
  name: string
  fingerprint: string
  problem?: string
  /** Why the file is not a document. */
  skipReason?: string
}

interface WalkOptions {
  /** A real path, without symbolic links. */
  root: string
  selection: Selection
  gitignore: boolean
  signal: AbortSignal
  /** Real paths to skip. */
  skip?: ReadonlySet<string>
  /** Called for each folder before its entries are listed. */
  onFolder?: (path: string) => void
}

interface Folder {
  path: string
  name: string
  rules: Ignore | undefined
  /** Reached through a symbolic link. Further links to folders are not followed, to prevent cycles. */
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
    // Like git, ignores a .gitignore that is a symbolic link.
    if (!(await lstat(path)).isFile()) return folder.rules
    const text = await readFileWithin(root, path, MAX_GITIGNORE_BYTES, signal)
    return addRules(folder.rules, folder.name, Buffer.from(text).toString('utf8'))
  } catch {
    // Missing or unreadable: only the rules of the parents apply.
    signal.throwIfAborted()
    return folder.rules
  }
}

async function* listEntries(folder: Folder, options: WalkOptions): AsyncGenerator<WalkResult> {
  let checkCount = 0
  let rules = copyRules(folder.rules)
  const isIgnored = (name: string) => {
    if (++checkCount % MAX_CACHED_IGNORE_CHECKS === 0) rules = copyRules(folder.rules)
    return rules?.ignores(name) ?? false
  }
  const inspect = async (dirent: Dirent): Promise<WalkResult> => {
    const path = join(folder.path, dirent.name)
    const name = await composeName(folder, dirent.name, path)
    return options.skip?.has(path) ? {} : inspectEntry({ dirent, path, name, folder, isIgnored }, options)
  }
  try {
    let batch: Promise<WalkResult>[] = []
    for await (const dirent of await opendir(folder.path, { bufferSize: 256 })) {
      options.signal.throwIfAborted()
      batch.push(inspect(dirent))
      if (batch.length < STAT_BATCH_SIZE) continue
      yield* await Promise.all(batch)
      batch = []
    }
    yield* await Promise.all(batch)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (folder.name === '' || !/^E[A-Z]/.test(code) || SYSTEM_ERROR_CODES.includes(code)) throw error
    // A folder that was removed meanwhile has no entries.
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

async function inspectEntry(candidate: Candidate, options: WalkOptions): Promise<WalkResult> {
  const { dirent, path, name, folder, isIgnored } = candidate
  const { selection } = options
  if (dirent.isDirectory())
    return selection.includesFolder(name) && !isIgnored(`${name}/`)
      ? { folder: { path, name, rules: folder.rules, isLinked: folder.isLinked } }
      : {}
  if (dirent.isSymbolicLink()) return inspectLink(candidate, options)
  if (!dirent.isFile()) return {}
  if (selection.includesFile(name)) return isIgnored(name) ? {} : inspectFile(path, name, selection)
  return selection.hasUnsupportedType(name) && !isIgnored(name)
    ? { entry: { path, name, fingerprint: '', skipReason: formatSkipReason(name) } }
    : {}
}

/**
 * Follows symbolic links within the root, and only to targets that are not found under their own name, such as visible links to hidden
 * files.
 */
async function inspectLink({ path, name, folder, isIgnored }: Candidate, { root, selection }: WalkOptions): Promise<WalkResult> {
  let real: string
  let target: BigIntStats
  try {
    real = await realpath(path)
    target = await stat(real, { bigint: true })
  } catch {
    // Broken, circular or inaccessible.
    return {}
  }
  if (!isWithin(root, real)) return {}
  const own = relative(root, real).split(sep).join('/').normalize('NFC')
  if (target.isFile())
    return selection.includesFile(name) && !selection.includesFile(own) && !isIgnored(name) ? inspectFile(path, name, selection) : {}
  if (!target.isDirectory() || folder.isLinked || own === '' || selection.includesFolder(own) || isWithin(real, folder.path)) return {}
  return selection.includesFolder(name) && !isIgnored(`${name}/`) ? { folder: { path, name, rules: folder.rules, isLinked: true } } : {}
}

async function inspectFile(path: string, name: string, selection: Selection): Promise<WalkResult> {
  try {
    const stats = await stat(path, { bigint: true })
    return { entry: createEntry(path, name, stats, selection.maxFileSize) }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (SYSTEM_ERROR_CODES.includes(code)) throw error
    if (code !== 'ENOENT') return { entry: { path, name, fingerprint: '', problem: toReadError(error).message } }
    if (!name.includes('\ufffd')) return {}
    return { entry: { path, name, fingerprint: '', problem: 'The file name is not valid UTF-8.' } }
  }
}

/** The fingerprint includes the change time, because edits may reset the modification time. */
export function createEntry(path: string, name: string, stats: BigIntStats, limit: number): FileEntry {
  const fingerprint = [stats.size, stats.mtimeNs, stats.ctimeNs, stats.ino].join('-')
  return { path, name, fingerprint, problem: stats.size > limit ? formatSizeProblem(Number(stats.size), limit) : undefined }
}

/** Returns the NFC form of a name, which is equal on every system, unless another file already has it. */
async function composeName(folder: Folder, raw: string, path: string): Promise<string> {
  const composed = raw.normalize('NFC')
  const prefix = folder.name === '' ? '' : `${folder.name}/`
  if (composed === raw) return prefix + raw
  try {
    const [file, composedFile] = await Promise.all([lstat(path), lstat(join(folder.path, composed))])
    return prefix + (file.ino === composedFile.ino ? composed : raw)
  } catch {
    // No other file has the composed name.
    return prefix + composed
  }
}
