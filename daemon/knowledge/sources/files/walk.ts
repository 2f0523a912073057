/** Walking a folder: its wanted files one after the other, however many there are, with what cannot be read told as problems. */
import type { BigIntStats, Dirent } from 'node:fs'
import { lstat, opendir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { Ignore } from 'ignore'
import { isWithin, readFileWithin, sizeProblem, unreadable } from './file-content.ts'
import { forFolder, withRules } from './gitignore.ts'
import type { Selection } from './selection.ts'

/** Entries looked at together: stat is a round trip to the thread pool. */
const BATCH = 64
/** .gitignore remembers every path it is asked about, so it is renewed now and then. */
const RENEW_AFTER = 10_000
const RULES_LIMIT = 1024 * 1024
/** Trouble of the machine, not of one entry: going on would make documents look deleted. */
const MACHINE_TROUBLE = ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO']

export interface Entry {
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
  entered?: (path: string) => void
}

interface Folder {
  path: string
  name: string
  rules: Ignore | undefined
  /** Reached through a link: further links to folders are not followed, so that no cycle can arise. */
  linked: boolean
}

interface Seen {
  entry?: Entry
  folder?: Folder
}

export async function* walk(options: WalkOptions): AsyncGenerator<Entry> {
  const pending: Folder[] = [{ path: options.root, name: '', rules: undefined, linked: false }]
  for (let folder = pending.pop(); folder; folder = pending.pop()) {
    options.entered?.(folder.path)
    if (options.gitignore) folder.rules = await rulesOf(folder, options)
    for await (const { entry, folder: below } of entriesOf(folder, options)) {
      if (entry) yield entry
      if (below) pending.push(below)
    }
  }
}

async function rulesOf(folder: Folder, { root, signal }: WalkOptions): Promise<Ignore | undefined> {
  const path = join(folder.path, '.gitignore')
  try {
    // git does not follow a .gitignore that is a link either.
    if (!(await lstat(path)).isFile()) return folder.rules
    const text = await readFileWithin(root, path, RULES_LIMIT, signal)
    return withRules(folder.rules, folder.name, Buffer.from(text).toString('utf8'))
  } catch {
    // No rules here, or none that can be read: those above go on.
    signal.throwIfAborted()
    return folder.rules
  }
}

async function* entriesOf(folder: Folder, options: WalkOptions): AsyncGenerator<Seen> {
  let asked = 0
  let rules = forFolder(folder.rules)
  const ignored = (name: string) => {
    if (++asked % RENEW_AFTER === 0) rules = forFolder(folder.rules)
    return rules?.ignores(name) ?? false
  }
  const look = async (found: Dirent): Promise<Seen> => {
    const path = join(folder.path, found.name)
    const name = await nameOf(folder, found.name, path)
    return options.skip?.has(path) ? {} : seen({ found, path, name, folder, ignored }, options)
  }
  try {
    let batch: Promise<Seen>[] = []
    for await (const found of await opendir(folder.path, { bufferSize: 256 })) {
      options.signal.throwIfAborted()
      batch.push(look(found))
      if (batch.length < BATCH) continue
      yield* await Promise.all(batch)
      batch = []
    }
    yield* await Promise.all(batch)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (folder.name === '' || !/^E[A-Z]/.test(code) || MACHINE_TROUBLE.includes(code)) throw error
    // A folder that vanished meanwhile is no different from one deleted before.
    if (code !== 'ENOENT') yield { entry: { path: folder.path, name: folder.name, fingerprint: '', problem: unreadable(error).message } }
  }
}

interface Candidate {
  found: Dirent
  path: string
  name: string
  folder: Folder
  ignored: (name: string) => boolean
}

async function seen({ found, path, name, folder, ignored }: Candidate, options: WalkOptions): Promise<Seen> {
  const { selection } = options
  if (found.isDirectory())
    return selection.enters(name) && !ignored(`${name}/`) ? { folder: { path, name, rules: folder.rules, linked: folder.linked } } : {}
  if (found.isSymbolicLink()) return link({ found, path, name, folder, ignored }, options)
  if (!found.isFile() || !selection.takes(name) || ignored(name)) return {}
  return described(path, name, selection)
}

/** A link is followed inside the root, and only to what is not found under its own name: hidden data behind visible links. */
async function link({ path, name, folder, ignored }: Candidate, { root, selection }: WalkOptions): Promise<Seen> {
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
  if (target.isFile()) return selection.takes(name) && !selection.takes(own) && !ignored(name) ? described(path, name, selection) : {}
  if (!target.isDirectory() || folder.linked || own === '' || selection.enters(own) || isWithin(real, folder.path)) return {}
  return selection.enters(name) && !ignored(`${name}/`) ? { folder: { path, name, rules: folder.rules, linked: true } } : {}
}

async function described(path: string, name: string, selection: Selection): Promise<Seen> {
  try {
    const found = await stat(path, { bigint: true })
    return { entry: entryOf(path, name, found, selection.maxFileSize) }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (MACHINE_TROUBLE.includes(code)) throw error
    if (code !== 'ENOENT') return { entry: { path, name, fingerprint: '', problem: unreadable(error).message } }
    if (!name.includes('\ufffd')) return {}
    return { entry: { path, name, fingerprint: '', problem: 'Its name is not valid UTF-8, so it cannot be opened.' } }
  }
}

/** The change time tells of edits that put the modification time back. */
export function entryOf(path: string, name: string, found: BigIntStats, limit: number): Entry {
  const fingerprint = [found.size, found.mtimeNs, found.ctimeNs, found.ino].join('-')
  return { path, name, fingerprint, ...(found.size > limit ? { problem: sizeProblem(Number(found.size), limit) } : {}) }
}

/** Composed, so that a name is the same on every system; unless a file of that very name stands beside it. */
async function nameOf(folder: Folder, raw: string, path: string): Promise<string> {
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
