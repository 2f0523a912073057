/** Files named with @ in a message, in the chat and in `ask`: their text goes with it, bounded, and only where it is text. */
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, extname, resolve } from 'node:path'
import { suggestWord } from '../../contract/suggest.ts'
import { failureOf } from '../terminal/errors.ts'
import { bytes } from '../terminal/format-quantity.ts'

export const LARGEST_FILE = 200_000
export const LARGEST_MESSAGE = 450_000

export interface Attached {
  /** What is sent. */
  message: string
  /** The files whose text is in it, as they were written. */
  files: string[]
  /** Where there is no such file, and perhaps none was meant: each in a sentence. */
  missing: string[]
}

/** The file cannot go with the message; the sentence says why. */
export class AttachmentError extends Error {}

const MENTION = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"]+))/g

/** Names in a directory, directories with a slash; none where it cannot be read. */
export function entriesOf(cwd: string, directory: string): string[] {
  try {
    return readdirSync(place(cwd, directory), { withFileTypes: true }).map((entry) =>
      isDirectory(cwd, directory, entry) ? `${entry.name}/` : entry.name,
    )
  } catch {
    return [] // there is nothing to complete with
  }
}

function isDirectory(cwd: string, directory: string, entry: { name: string; isDirectory(): boolean; isSymbolicLink(): boolean }): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory()
  return statSync(resolve(place(cwd, directory), entry.name), { throwIfNoEntry: false })?.isDirectory() ?? false
}

function place(cwd: string, path: string): string {
  return resolve(cwd, path === '~' || path.startsWith('~/') ? homedir() + path.slice(1) : path)
}

/** The files that a text names, without opening them. */
export function mentionedFiles(text: string, cwd: string): string[] {
  if (!text.includes('@')) return []
  const files = Array.from(text.matchAll(MENTION), ([, quoted, plain]) => {
    try {
      return found(cwd, quoted ?? plain ?? '')
    } catch {
      return undefined // said when the message is sent
    }
  })
  return [...new Set(files.flatMap((file) => (file?.stats.isFile() ? [file.path] : [])))]
}

/** The message with the files it names. An @ that names no file stays as it is, and is told. */
export function withFiles(text: string, cwd: string): Attached {
  const files: string[] = []
  const missing: string[] = []
  const parts: string[] = []
  for (const [, quoted, plain] of text.matchAll(MENTION)) {
    const mentioned = quoted ?? plain ?? ''
    const file = readable(mentioned, () => found(cwd, mentioned))
    if (file === undefined) missing.push(missingText(cwd, mentioned))
    if (file === undefined || files.includes(file.path)) continue
    parts.push(
      section(
        file.path,
        readable(file.path, () => textOf(place(cwd, file.path), file)),
      ),
    )
    files.push(file.path)
  }
  const message = [text, ...parts].join('\n\n')
  if (message.length > LARGEST_MESSAGE)
    throw new AttachmentError(
      `The message with its files has ${message.length.toLocaleString('en')} characters; ${LARGEST_MESSAGE.toLocaleString('en')} are the most.`,
    )
  return { message, files, missing }
}

interface Found {
  path: string
  stats: Stats
}

/** The path, without the full stop or comma of the sentence it stands in where only that names a file. */
function found(cwd: string, mentioned: string): Found | undefined {
  for (const path of new Set([mentioned, trimmed(mentioned)])) {
    const stats = path === '' ? undefined : statsOf(place(cwd, path))
    if (stats) return { path, stats }
  }
  return undefined
}

const trimmed = (mentioned: string) => mentioned.replace(/[.,;:!?)\]]+$/, '')

/** What cannot be a path is none. */
function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch (error) {
    if (['ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Why a file cannot be read, in words. */
function readable<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof AttachmentError ? error : new AttachmentError(`@${path}: ${failureOf(error).error}`)
  }
}

function missingText(cwd: string, mentioned: string): string {
  const path = trimmed(mentioned) || mentioned
  const directory = path.includes('/') ? `${dirname(path)}/` : ''
  const near = suggestWord(
    basename(path),
    entriesOf(cwd, directory || '.').map((name) => name.replace(/\/$/, '')),
  )
  return `@${path}: there is no file ${place(cwd, path)}.${near === undefined ? '' : ` Did you mean @${directory}${near}?`}`
}

function textOf(file: string, { path, stats }: Found): string {
  if (stats.isDirectory())
    throw new AttachmentError(`${path} is a directory. Name a file in it, or add it as knowledge: cadre knowledge add.`)
  if (!stats.isFile()) throw new AttachmentError(`${path} is not a file.`)
  if (stats.size > LARGEST_FILE)
    throw new AttachmentError(
      `${path} has ${bytes(stats.size)}; ${bytes(LARGEST_FILE)} are the most. To ask about long documents: cadre knowledge add.`,
    )
  const content = readFileSync(file)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content)
    if (!text.includes('\0')) return text
  } catch {
    // not UTF-8: said below
  }
  throw new AttachmentError(`${path} is not text.`)
}

/** A fence longer than any in the text, so that nothing in it can close it. */
function section(path: string, text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${path}:\n${fence}${extname(path).slice(1)}\n${text.replace(/\n$/, '')}\n${fence}`
}
